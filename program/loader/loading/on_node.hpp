// SPDX-License-Identifier: BSD-3-Clause
// What one node does of a dlopen(3) or dlclose(3) of the job. One thread at a time, on a private stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits.h>

#include "program/loader/loading/plan.hpp"
#include "program/process/modules.hpp"

namespace quire::program {

/// A library of the program's own that is loaded, in the order of constructors.
struct loaded_module {
  module about{};
  std::size_t number = 0;  ///< constructors.hpp
  std::uint64_t load = 0;  ///< which call has loaded it, counted on this node
  bool runs = false;       ///< not on the node that has asked for it, until its constructors begin there
};
struct loaded_list {
  static constexpr std::size_t most = 512;  ///< as constructors.cpp keeps back
  loaded_module all[most];
  std::size_t count = 0;
};
[[nodiscard]] loaded_list& loaded_here() noexcept;

/// What the node that asks tells the others. In shared memory.
struct load_order {
  static constexpr std::size_t most_modules = 1024;
  char file[PATH_MAX];
  int mode;
  std::size_t slot;  ///< of the handle
  load_plan plan;
  std::size_t module_count;  ///< that were not loaded before
  struct {
    std::uint64_t base, sum;
    char file[48];
    char build[sizeof module::build];
  } modules[most_modules];
  int node;            ///< that asks
  std::uint64_t next;  ///< where the next file may lie
  char error[400];     ///< what dlerror(3) would tell, of the node that has failed
  bool may_stay;       ///< not all nodes can have it, but the node that asks, as any process
};

/// How many calls of dlopen(3) this node has made: the number of the last one.
[[nodiscard]] std::uint64_t loads_here() noexcept;
/// The first node: fills in the order. Libc's handle; null: error says why, and nothing is loaded.
[[nodiscard]] void* load_first(load_order& o) noexcept;
/// A node that has the library for itself, after a load that has failed.
[[nodiscard]] void* load_alone(load_order& o) noexcept;
/// Another node: the same. False: error says why, and nothing is loaded.
[[nodiscard]] bool load_as(load_order& o) noexcept;
/// Libc's dlclose(3). Libraries that go have no destructors here.
int close_here(void* own) noexcept;
/// The same in the thread that has called it: `ends` is called for each library that goes, before it does.
int close_first(void* own, void (*ends)(loaded_module& m)) noexcept;

}  // namespace quire::program
