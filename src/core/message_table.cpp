// SPDX-License-Identifier: BSD-3-Clause
#include "core/message_table.hpp"

#include "base/check.hpp"
#include "sync/kinds.hpp"

namespace quire::core {

using model::message_kind;
using protocol::payload;
using protocol::route;

namespace {
/// Messages that are no protocol's.
protocol::message_traits traits_of_core(message_kind k) noexcept {
  if (k == message_kind::please_take) return {.kind = k, .to = route::page_out};
  if (k == message_kind::room || k == message_kind::write_back || k == message_kind::written_back)
    return {.kind = k, .to = route::part};
  if (k < message_kind::sync_first) return {.kind = k, .to = route::nobody};
  const bool piece = k <= message_kind::sync_last && sync::is_piece(sync::kind_of(k));
  return {.kind = k, .brings = piece ? payload::piece : payload::value, .to = route::part};
}
}  // namespace

message_table::message_table(std::span<const protocol::row* const> rows) noexcept {
  for (std::size_t k = 0; k < traits_.size(); ++k) traits_[k] = traits_of_core(static_cast<message_kind>(k));
  std::array<bool, 256> taken{};
  for (const protocol::row* const r : rows) {
    for (const protocol::message_traits& m : r->messages) {
      const auto k = static_cast<std::size_t>(m.kind);
      CHECK(m.kind < message_kind::sync_first && !taken[k]);
      taken[k] = true;
      traits_[k] = m;
      traits_[k].of = r->id;
    }
  }
}

}  // namespace quire::core
