// SPDX-License-Identifier: BSD-3-Clause
// Numbers of the runtime services: requests between nodes that are answered by message (core::ask, core::notify).
#pragma once

#include <cstdint>

namespace quire::region {

enum class service : std::uint32_t {
  region_create = 0,  ///< any node -> node 0: bytes, options; answered when all nodes have the region
  region_announce,    ///< node 0 -> all: the description
  region_added,       ///< all -> node 0
  allocate,           ///< -> the node of a heap slice: bytes, alignment; answered with address and whether it is fresh
  release,            ///< -> the node of the slice: address, and whether all of its content is zero
  allocation_size,    ///< -> the node of the slice: address
  publish,            ///< -> node 0: name, value
  lookup,             ///< -> node 0: name; answered when there is such a name
  spawn,              ///< -> the node to run on: function, argument
  join,               ///< -> the node that runs it: thread
  release_many,  ///< -> the node of the slices: addresses. As a request it is answered when all are freed, as a notice
                 ///< not
  release_refused,   ///< and back: those that start no live allocation
  flush_frees,       ///< any -> any, which is to send what it has gathered; answered with how many that were
  region_destroy,    ///< any node -> node 0: handle; answered when no node has anything of the region, or with a reason
                     ///< why it stays
  region_step,       ///< node 0 -> all: a step of that (region/keeper_end.cpp)
  region_step_done,  ///< all -> node 0
  exit,              ///< any node -> all: the job ends; a notice
  exit_answer,       ///< and back: the sender is about to end
  allocation_around,  ///< -> the node of the slice: address, and whether it is free; answered with where its allocation
                      ///< or the gap begins, and how long it is
  lay,                ///< the node of a slice -> all: pages, and how large their minipages are; a notice
  laid,               ///< and back: the sender has written it down, or a reason why not
  code,  ///< any -> any: a module of code, and what is to be done with it (code/service/service.hpp); answered when it
         ///< is done
  gc_register,    ///< any node -> node 0: a name of a type or a root of a garbage-collected heap; answered with its
                  ///< number (gc/service)
  gc_collection,  ///< any node -> any, in a collection: what src/gc wants to be sent; a notice
  gc_borrow,      ///< -> the node of a slice of such a heap: bytes; answered with where they are
  container,      ///< any node -> node 0: names of containers; any node -> any that does the I/O of one
                  ///< (container/service/service.hpp)
  allocate_at,  ///< -> the node of the slice: address, bytes; answered with which of them may not be zero (heap::dirt)
};

}  // namespace quire::region
