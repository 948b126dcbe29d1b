// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/table/table.hpp"

#include "protocol/release/protocol.hpp"
#include "protocol/sequential/protocol.hpp"
#include "protocol/transaction/protocol.hpp"

namespace quire::protocol {

std::span<const row* const> built_in() noexcept {
  static const row* const all[] = {&sequential::row(), &release::row(), &transaction::by_owners()};
  return all;
}

std::span<const row* const> with_token() noexcept {
  static const row* const all[] = {&sequential::row(), &release::row(), &transaction::by_token()};
  return all;
}

}  // namespace quire::protocol
