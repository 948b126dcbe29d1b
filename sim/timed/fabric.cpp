// SPDX-License-Identifier: BSD-3-Clause
#include "sim/timed/fabric.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "core/inbox.hpp"
#include "core/outbox.hpp"
#include "wire/wire.hpp"

namespace quire::timed {

std::uint64_t fabric::bytes_of(const message& m) noexcept { return wire::header_bytes + m.payload_bytes; }

void fabric::add(event e) {
  CHECK(e.at >= now_);
  e.order = order_++;
  queue_.push(e);
}

void fabric::after(time_ns at, node_id node, std::uint32_t what, std::uint64_t data) {
  event e;
  e.at = at;
  e.node = node;
  e.timer = what;
  e.data = data;
  add(e);
}

void fabric::send(time_ns at, node_id from, node_id to, const message& m, std::span<const std::byte> payload,
                  transport::urgency how) {
  CHECK(from != to && to.value() < links_.size());
  if (free_.empty()) {
    free_.push_back(static_cast<number>(parcels_.size()));
    parcels_.emplace_back();
  }
  event e;
  e.data = free_.back();
  free_.pop_back();
  parcel& p = parcels_[e.data];
  p.m = m;
  p.m.from = from;
  p.to = to;
  p.how = how;
  p.payload.assign(payload.begin(), payload.end());
  time_ns& out = links_[from.value()].out;
  const time_ns begins = std::max(at, out);
  out = begins + time_for(bytes_of(m), prices_.link_mbs);
  e.at = begins + prices_.latency_ns;
  e.node = to;
  e.what = kind::head;
  add(e);
}

void fabric::run(sink& to) {
  while (!queue_.empty()) {
    event e = queue_.top();
    queue_.pop();
    now_ = e.at;
    ++events_;
    switch (e.what) {
      case kind::head: {
        time_ns& in = links_[e.node.value()].in;
        in = std::max(now_, in) + time_for(bytes_of(parcels_[e.data].m), prices_.link_mbs);
        if (in == now_) {
          to.on_arrival(e.node, static_cast<number>(e.data));
          break;
        }
        e.at = in;
        e.what = kind::arrival;
        add(e);
        break;
      }
      case kind::arrival:
        to.on_arrival(e.node, static_cast<number>(e.data));
        break;
      case kind::timer:
        to.on_timer(e.node, e.timer, e.data);
        break;
    }
  }
}

}  // namespace quire::timed
