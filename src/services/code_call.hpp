// SPDX-License-Identifier: BSD-3-Clause
// What a thread does to load a module of code for all nodes, or to unload it (quire/code.h). A machine: what was done,
// or what a node has answered, goes in; what is to be done next comes out. Orders to nodes go out one after the other;
// the dead need none.
//
//   load      prepare; all nodes attach it; constructors; its name. If anything fails: all nodes run what was kept for
//             the end, destructors if constructors have run, all detach it, and its memory goes
//   unload    look; all nodes run what was kept for the end; claim the end, which one call of the job does;
//   destructors;
//             the variables go; all detach it, this node last; the code goes
//
// It promises: constructors run once, when all who live have attached the module; destructors once, before any variable
// goes; and memory of code goes when no living node has it attached. Of a call that failed half-way the next one does
// the rest.
#pragma once

#include <cstdint>

#include "services/services.hpp"

namespace quire::services {

/// `a` of a request to a node.
enum class code_order : std::uint64_t { attach, run_exits, detach };

class code_call {
 public:
  enum class work : std::uint8_t {
    order,      ///< `node` is to do `what`; this node does it itself
    prepare,    ///< read the file, make regions, fill them
    construct,  ///< run constructors
    publish,    ///< its name
    look,       ///< QUIRE_EXISTS: destructors have run; QUIRE_NOT_FOUND: its variables have gone, too. Else why not
    claim,      ///< QUIRE_EXISTS: they have run meanwhile; QUIRE_BUSY: somebody who lives is at it
    destruct,   ///< run destructors; then they have run
    destroy_data,
    destroy_code,
    attach_again,  ///< here: the code could not go
    over,
  };
  struct step {
    work what = work::over;
    unsigned node = 0;            // order
    code_order order{};           //
    quire_status why = QUIRE_OK;  // over
  };

  [[nodiscard]] static code_call load(unsigned self, unsigned nodes) noexcept { return {self, nodes, true}; }
  [[nodiscard]] static code_call unload(unsigned self, unsigned nodes) noexcept { return {self, nodes, false}; }

  [[nodiscard]] step begin() noexcept { return loads_ ? does(work::prepare) : does(work::look); }
  /// The step is done; or a node has answered an order, QUIRE_LOST: it is dead.
  [[nodiscard]] step on_done(quire_status why) noexcept;

 private:
  code_call(unsigned self, unsigned nodes, bool loads) noexcept : self_(self), nodes_(nodes), loads_(loads) {}
  [[nodiscard]] step does(work what) noexcept { return now_ = {.what = what}; }
  [[nodiscard]] step over(quire_status why) noexcept { return now_ = {.why = why}; }
  [[nodiscard]] step tell(code_order what) noexcept;
  [[nodiscard]] step tell_next() noexcept;
  [[nodiscard]] step all_are_told() noexcept;
  [[nodiscard]] step give_up(quire_status why) noexcept;

  unsigned self_, nodes_;
  bool loads_;
  step now_{};
  unsigned told_ = 0;               ///< nodes that the order has gone to, of nodes_ turns
  quire_status worst_ = QUIRE_OK;   ///< of an order to all: the first
  quire_status result_ = QUIRE_OK;  ///< of a load that is given up
  bool fails_ = false, constructed_ = false, attached_ = false;
};

}  // namespace quire::services
