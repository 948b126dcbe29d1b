// SPDX-License-Identifier: BSD-3-Clause
// Virtual time and the network of the model: events in order, links that carry one message at a time. Knows no protocol
// and no chance: equal times are broken by the order in which events were made, so the same input gives the same run.
//
// A message leaves when its sender's link out is free, takes the link for its bytes, and reaches the receiver's link a
// latency after its first byte has left; it has arrived when its last byte is through that link too. A pair keeps its
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <queue>
#include <span>
#include <vector>

#include "model/message.hpp"
#include "transport/transport.hpp"
#include "sim/timed/prices.hpp"

namespace quire::timed {

using model::message;
using model::node_id;

/// A message on its way. `payload` is what the model needs of it, m.payload_bytes what travels.
struct parcel {
  message m{};
  node_id to{};
  std::vector<std::byte> payload{};
  transport::urgency how = transport::urgency::now;
};

class fabric {
 public:
  using number = std::uint32_t;
  /// What happens at the nodes.
  class sink {
   public:
    /// The last byte of a parcel is at its receiver, which gives the parcel back by release().
    virtual void on_arrival(node_id at, number parcel) = 0;
    /// A timer set by after().
    virtual void on_timer(node_id at, std::uint32_t what, std::uint64_t data) = 0;

   protected:
    ~sink() = default;
  };

  fabric(unsigned nodes, const prices& p) : prices_(p), links_(nodes) {}

  /// At time `at`, which is now or later, `from` has a message ready for its link.
  void send(time_ns at, node_id from, node_id to, const message& m, std::span<const std::byte> payload,
            transport::urgency how = transport::urgency::now);
  void after(time_ns at, node_id node, std::uint32_t what, std::uint64_t data = 0);
  /// Events until there are none.
  void run(sink& to);

  [[nodiscard]] time_ns now() const noexcept { return now_; }
  [[nodiscard]] const parcel& at(number n) const noexcept { return parcels_[n]; }
  void release(number n) { free_.push_back(n); }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] static std::uint64_t bytes_of(const message& m) noexcept;

 private:
  enum class kind : std::uint8_t { head, arrival, timer };
  struct event {
    time_ns at = 0;
    std::uint64_t order = 0;
    std::uint64_t data = 0;  ///< of a timer; else the parcel's number
    std::uint32_t timer = 0;
    node_id node{};
    kind what = kind::timer;
  };
  struct later {
    bool operator()(const event& x, const event& y) const noexcept {
      return x.at != y.at ? x.at > y.at : x.order > y.order;
    }
  };
  /// Until when a node's links are taken.
  struct link {
    time_ns out = 0, in = 0;
  };
  void add(event e);

  prices prices_;
  std::vector<link> links_;
  std::priority_queue<event, std::vector<event>, later> queue_{};
  std::deque<parcel> parcels_{};  ///< stay where they are
  std::vector<number> free_{};
  time_ns now_ = 0;
  std::uint64_t order_ = 0, events_ = 0;
};

}  // namespace quire::timed
