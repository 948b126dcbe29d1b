// SPDX-License-Identifier: BSD-3-Clause
// The transport of a node of the model: each message, and the copy of its payload, has a price at its sender and at its
// receiver.
#pragma once

#include <cstdint>
#include <deque>

#include "sim/timed/fabric.hpp"
#include "transport/transport.hpp"

namespace quire::timed {

/// The processor of a node: what costs time there.
class processor {
 public:
  virtual void spend(time_ns ns) noexcept = 0;
  /// What was done since the last call, and has a price, is spent; the time now.
  [[nodiscard]] virtual time_ns settle_up() noexcept = 0;

 protected:
  ~processor() = default;
};

class wire final : public transport::transport {
 public:
  wire(fabric& net, const prices& costs, node_id self, processor& here)
      : net_(net), costs_(costs), self_(self), here_(here) {}
  void attach(::quire::transport::sink& to) noexcept { sink_ = &to; }
  /// From the fabric: a parcel waits here from now on.
  void on_arrival(fabric::number parcel) { arrived_.push_back(parcel); }
  /// How many progress() may take.
  void let(std::size_t parcels) noexcept { let_ = parcels; }
  [[nodiscard]] std::size_t waiting() const noexcept { return arrived_.size(); }

  [[nodiscard]] std::span<const std::byte> address() const noexcept override { return {}; }
  [[nodiscard]] base::status connect(node_id, std::span<const std::span<const std::byte>>,
                                     ::quire::transport::sink&) noexcept override {
    return {};
  }
  void send(node_id to, const message& m, std::span<const std::byte> payload, ::quire::transport::urgency how,
            ::quire::transport::lasting lasts) noexcept override;
  void abandon(node_id) noexcept override {}
  bool progress() noexcept override;
  [[nodiscard]] bool sends_pending() const noexcept override { return false; }
  [[nodiscard]] bool turn_period() noexcept override { return true; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm(::quire::transport::urgency) noexcept override { return arrived_.empty(); }
  void disarm() noexcept override {}
  void signal() noexcept override {}
  base::status flush(int) noexcept override { return {}; }
  [[nodiscard]] const ::quire::transport::traffic& counters() const noexcept override { return traffic_; }
  [[nodiscard]] const char* name() const noexcept override { return "priced"; }

 private:
  void take(const parcel& p) noexcept;

  fabric& net_;
  const prices& costs_;
  node_id self_;
  processor& here_;
  ::quire::transport::sink* sink_ = nullptr;
  std::deque<fabric::number> arrived_{};
  std::size_t let_ = 0;
  ::quire::transport::traffic traffic_{};
};

}  // namespace quire::timed
