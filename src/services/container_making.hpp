// SPDX-License-Identifier: BSD-3-Clause
// What a thread does to make a container once its name is this call's (container_call.hpp): orders to the nodes that
// are to do its I/O, one after the other, and work of its own. A machine: what was done, or what a node has answered,
// goes in; what is to be done next comes out.
//
//   "memory"   shape; create; settle
//   a linker   the home attaches it, which alone may make or replace content. Do all nodes reach the same? Then they
//              attach it, too. Shape; who has attached it offers its store; create; the content is cut where that is
//              asked for; settle
//   a failure  the region goes, and who has attached it detaches it
//
// It promises: when the region is made, each living node that does its I/O has attached the content of the home, and
// offers it; content is cut when nothing else can fail; and of a call that fails no living node has anything attached.
// Where the job goes on without nodes (survivors) the lost are passed over, but for the home while it attaches.
#pragma once

#include <cstdint>

#include "base/fault_heap.hpp"
#include "services/services.hpp"

namespace quire::services {

class container_making {
 public:
  enum class work : std::uint8_t {
    attach,    ///< `node` opens the linker; answered with nothing more
    identify,  ///< `node` says which content it reaches
    shape,     ///< how large, in which units, and who does the I/O: the head says it from now on
    offer,     ///< `node` offers its store to its engine
    create,    ///< the region
    cut,       ///< `node` tells the linker that the content has no bytes
    settle,    ///< the head gets the region; the container grows to what was asked for
    destroy,   ///< the region
    detach,    ///< `node` closes the linker
    over,
  };
  struct step {
    work what = work::over;
    unsigned node = 0;
    bool first = false;           ///< attach: nobody has opened it before
    quire_status why = QUIRE_OK;  ///< over
  };
  struct wanted {
    unsigned nodes = 1, home = 0;
    bool survives = false;
    bool linked = false;      ///< not "memory"
    bool at_one = false;      ///< one node is to do the I/O; the others, if they can, when that one is lost
    bool identifies = false;  ///< the linker says which content a node reaches
    bool anywhere = false;    ///< if it does not: all nodes reach the same
    bool cuts = false;
  };

  explicit container_making(const wanted& what) noexcept : wanted_(what) {}
  [[nodiscard]] step begin();
  /// The step is done, or not. `identity`: of `identify`.
  [[nodiscard]] step on_done(quire_status why, std::uint64_t identity = 0);

  /// From `shape` on: all nodes have it attached.
  [[nodiscard]] bool everywhere() const noexcept { return everywhere_; }

 private:
  [[nodiscard]] step does(work what, unsigned node = 0);
  [[nodiscard]] step share_out();
  [[nodiscard]] step attach_next(unsigned node);
  [[nodiscard]] step offer_next();
  [[nodiscard]] step identify_next(unsigned node);
  [[nodiscard]] step fail(quire_status why);
  [[nodiscard]] step detach_next();
  /// The first node from `node` on that is not the home.
  [[nodiscard]] unsigned other_from(unsigned node) const noexcept { return node == wanted_.home ? node + 1 : node; }

  wanted wanted_;
  step now_{};
  base::fault_vector<unsigned> attached_{};  ///< nodes, the home first
  std::size_t told_ = 0;                     ///< of them
  std::uint64_t identity_ = 0;               ///< of the home
  quire_status result_ = QUIRE_OK;
  bool everywhere_ = false, created_ = false;
};

}  // namespace quire::services
