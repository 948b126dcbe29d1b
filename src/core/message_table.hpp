// SPDX-License-Identifier: BSD-3-Clause
// What each kind of message needs: rows of the protocols, and of the core itself. message_table.cpp. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "model/message.hpp"
#include "protocol/contract/row.hpp"

namespace quire::core {

class message_table {
 public:
  /// No two rows have the same kind of message.
  explicit message_table(std::span<const protocol::row* const> rows) noexcept;

  /// Of kinds that are nobody's, as well: those that are not about memory.
  [[nodiscard]] const protocol::message_traits& of(model::message_kind k) const noexcept {
    return traits_[static_cast<std::size_t>(k)];
  }

 private:
  std::array<protocol::message_traits, 256> traits_{};
};

}  // namespace quire::core
