// SPDX-License-Identifier: BSD-3-Clause
// What nodes do for memory of the program that becomes shared where it is (quire_region_adopt): one node's content is
// what counts. A machine on each node: what was done goes in, what is to be done next comes out.
//
//   check  that it may be so; copy  the content goes aside; make  that one node makes the region of it; tell  the
//   others what came of it; put_back  the copy, where no region was made
//
// It promises: the region is made when all nodes have their content aside; in the end all nodes have the region, or all
// have the memory that they had; where neither can be the job ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/services.hpp"

namespace quire::services {

class adoption {
 public:
  enum class work : std::uint8_t {
    meet,
    check,
    copy,
    make,      ///< of that one node
    tell,      ///< together; answered by on_told()
    put_back,  ///< here
    give_up,   ///< the memory can be neither shared nor put back: the job ends
    over,
  };
  struct step {
    work what = work::over;
    quire_status why = QUIRE_OK;  ///< over, give_up
  };
  /// `makes`: this node's content counts. `alone`: others do something else, and nobody there uses the memory.
  explicit adoption(bool makes, bool alone) noexcept : makes_(makes), alone_(alone) {}
  [[nodiscard]] step begin() noexcept { return go(0); }
  [[nodiscard]] step on_done(quire_status why) noexcept;
  /// What came of `make`. `made`: some node has the region.
  [[nodiscard]] step on_told(quire_status why, bool made) noexcept;

 private:
  [[nodiscard]] step go(std::size_t at) noexcept;

  bool makes_, alone_;
  std::size_t at_ = 0;
  step now_{};
  quire_status result_ = QUIRE_OK;
};

}  // namespace quire::services
