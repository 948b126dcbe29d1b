// SPDX-License-Identifier: BSD-3-Clause
// Where all writes are to be noticed (region_shape::traces): units that the home alone has written, epoch after epoch,
// while nobody else had a copy. They have nothing to tell anybody, so after a few epochs their writes are not noticed
// any more, until another node asks for the unit. What was written meanwhile is `unseen`: that it was is told, not
// where.
//
// An epoch ends where a thread of the node comes from a barrier. Locks end none: what they hand from node to node is to
// be noticed each time. A copy from long ago may still be there. Who writes it sends a diff to the home, and so ends
// this, as a request does.
#pragma once

#include <cstdint>

#include "protocol/release/state.hpp"

namespace quire::release {

class lone_writes {
 public:
  static constexpr std::uint8_t enough = 3;  ///< epochs

  /// Where there is no table all writes are noticed.
  void use(lone_count* counts) noexcept { counts_ = counts; }

  [[nodiscard]] bool is_unnoticed(std::uint64_t unit, const unit_state& s) const noexcept {
    return counts_ != nullptr && s.is_home != 0 && s.shared == 0 && counts_[unit].epochs >= enough;
  }
  /// At a release of the home, which has written the unit in `epoch`.
  void note_release(std::uint64_t unit, const unit_state& s, std::uint8_t epoch) noexcept {
    if (counts_ == nullptr) return;
    lone_count& c = counts_[unit];
    if (s.shared != 0) {
      c = {};
    } else if (c.epochs == 0 || c.last != epoch) {
      c.last = epoch;
      if (c.epochs < enough) ++c.epochs;
    }
  }
  void end(std::uint64_t unit) noexcept {
    if (counts_ != nullptr) counts_[unit] = {};
  }

 private:
  lone_count* counts_ = nullptr;
};

}  // namespace quire::release
