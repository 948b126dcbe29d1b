// SPDX-License-Identifier: BSD-3-Clause
#include "sim/timed/wire.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace quire::timed {

void wire::send(node_id to, const message& m, std::span<const std::byte> payload, ::quire::transport::urgency how,
                ::quire::transport::lasting) noexcept {
  CHECK(to != self_ && m.payload_bytes == payload.size());
  here_.spend(costs_.send_ns + time_for(payload.size(), costs_.copy_out_mbs));
  ++traffic_.messages_sent;
  traffic_.bytes_sent += fabric::bytes_of(m);
  net_.send(here_.settle_up(), self_, to, m, payload, how);
}

bool wire::progress() noexcept {
  if (let_ == 0 || arrived_.empty()) return false;
  for (; let_ != 0 && !arrived_.empty(); --let_) {
    const fabric::number next = arrived_.front();
    arrived_.pop_front();
    take(net_.at(next));
    net_.release(next);
  }
  return true;
}

void wire::take(const parcel& p) noexcept {
  here_.spend(costs_.receive_ns + time_for(p.payload.size(), costs_.copy_in_mbs));
  ++traffic_.messages_received;
  traffic_.bytes_received += fabric::bytes_of(p.m);
  if (!p.payload.empty()) {
    const auto where = sink_->place(p.m);
    if (where.is_too_late()) return;
    std::copy(p.payload.begin(), p.payload.end(), static_cast<std::byte*>(where.address()));
  }
  sink_->deliver(p.m);
}

}  // namespace quire::timed
