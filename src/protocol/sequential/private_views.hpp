// SPDX-License-Identifier: BSD-3-Clause
// Regions that threads map for reading only; what they write goes to private copies (src/protocol/transaction). What
// the machine of such a region has to know of those who use them: one word, which they change (transaction/phase.hpp).
#pragma once

#include <cstdint>

namespace quire::sequential {

class private_views {
 public:
  /// Nothing may be mapped.
  [[nodiscard]] bool is_closed() const noexcept { return (load() & closed) != 0; }
  /// What is mapped must stay, if it can.
  [[nodiscard]] bool is_in_use() const noexcept { return (load() & used) != 0; }

 protected:
  static constexpr std::uint32_t used = 1u << 6, closed = 1u << 7;

  private_views() = default;
  private_views(const private_views&) = delete;
  private_views& operator=(const private_views&) = delete;
  ~private_views() = default;
  [[nodiscard]] std::uint32_t load() const noexcept { return __atomic_load_n(&word_, __ATOMIC_ACQUIRE); }

  alignas(8) std::uint32_t word_ = 0;  ///< machines have no header of the standard library for that
};

}  // namespace quire::sequential
