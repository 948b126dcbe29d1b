// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/wire.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "wire/wire.hpp"

namespace quire::whole {

using ::quire::transport::landing;

void wire::send(node_id to, const message& m, std::span<const std::byte> payload, ::quire::transport::urgency,
                ::quire::transport::lasting lasts) noexcept {
  CHECK(to != self_ && m.payload_bytes == payload.size());
  if (meanwhile_ != nullptr) meanwhile_();
  if (abandoned_[to.value()]) return;
  ++traffic_.messages_sent;
  traffic_.bytes_sent += ::quire::wire::header_bytes + payload.size();
  const bool copied = payload.size() <= copied_bytes || lasts == ::quire::transport::lasting::now;
  copied ? net_.send(self_, to, m, payload) : net_.send_read_late(self_, to, m, payload);
}

void wire::arrive(const message& m, std::span<const std::byte> payload) {
  if (abandoned_[m.from.value()]) return;
  if (is_gone_ != nullptr && is_gone_(m.from) && (cut_[m.from.value()] || net_.rng().chance(30))) {
    cut_[m.from.value()] = true;
    return;
  }
  arrival& a = inbox_.emplace_back();
  a.m = m;
  a.payload.assign(payload.begin(), payload.end());
  if (payload.size() > copied_bytes && net_.rng().chance(30)) ask_for_place(a);
}

void wire::ask_for_place(arrival& a) noexcept {
  const landing where = sink_->place(a.m);
  a.dropped = where.is_too_late();
  a.placed = where.address();
}

bool wire::progress() noexcept {
  bool any = false;
  for (std::size_t most = 1 + net_.rng().below(4); most != 0 && !inbox_.empty(); --most) {
    arrival a = std::move(inbox_.front());
    inbox_.pop_front();
    any = true;
    ++traffic_.messages_received;
    traffic_.bytes_received += ::quire::wire::header_bytes + a.payload.size();
    if (abandoned_[a.m.from.value()]) continue;
    if (!a.payload.empty()) {
      if (a.placed == nullptr && !a.dropped) ask_for_place(a);
      if (a.dropped) continue;
      std::copy(a.payload.begin(), a.payload.end(), static_cast<std::byte*>(a.placed));
    }
    sink_->deliver(a.m);
  }
  return any;
}

}  // namespace quire::whole
