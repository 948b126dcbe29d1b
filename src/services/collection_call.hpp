// SPDX-License-Identifier: BSD-3-Clause
// What nodes do together to collect a garbage-collected heap (quire_gc_collect()). A machine on each node: what was
// done, as all nodes have heard, goes in; what is to be done next comes out.
//
//   close   no transaction of other threads begins; types  are read
//   hold    content stays where it is; keep  nodes tell each other what they keep; mark; live  what may be used again;
//           plan  which objects move; let_go
//   move    by the application view; open; sum_up
//
// It promises: content is marked while all nodes hold it still; objects move when all nodes have planned and nobody's
// transaction runs; and however it ends nothing is held, and transactions begin again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/services.hpp"

namespace quire::services {

class collection_call {
 public:
  enum class work : std::uint8_t {
    // Together.
    close,
    hold,
    keep,
    mark,
    live,
    plan,
    move,
    sum_up,
    // Of each node, alone.
    types,
    let_go,
    open,
    over,
  };
  struct step {
    work what = work::over;
    quire_status why = QUIRE_OK;  ///< over
  };
  [[nodiscard]] step begin() noexcept { return go(0); }
  /// Of what is done together: what all hear.
  [[nodiscard]] step on_done(quire_status why) noexcept;

 private:
  [[nodiscard]] step go(std::size_t at) noexcept;
  [[nodiscard]] step clean_up() noexcept;

  std::size_t at_ = 0;
  step now_{};
  bool closed_ = false, held_ = false;
  quire_status result_ = QUIRE_OK;
};

}  // namespace quire::services
