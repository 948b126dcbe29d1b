// SPDX-License-Identifier: BSD-3-Clause
// The in-process body of the transport; see loopback.hpp. Any thread may be the driver of an end; mailboxes are shared
// between threads, each under a spin lock that is held for a few instructions.
#include "transport/loopback/loopback.hpp"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "base/copy_words.hpp"

namespace quire::transport::loopback {
struct hub::mailbox {
  /// No std::mutex: a driver may be in a signal handler.
  class spin_lock {
   public:
    void lock() noexcept {
      while (taken_.test_and_set(std::memory_order_acquire)) ::sched_yield();
    }
    void unlock() noexcept { taken_.clear(std::memory_order_release); }

   private:
    std::atomic_flag taken_;
  };

  mailbox() { CHECK(bell >= 0); }
  ~mailbox() { ::close(bell); }

  spin_lock lock;
  std::deque<packet> packets;
  bool armed = false;              ///< somebody sleeps, or is about to
  urgency least = urgency::later;  ///< and what wakes it
  std::atomic<bool> failed{false};
  const int bell = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
};

hub::hub(unsigned nodes) {
  for (unsigned i = 0; i < nodes; ++i) mailboxes_.push_back(std::make_unique<mailbox>());
}
hub::~hub() = default;

void hub::ring(mailbox& box) noexcept {
  const std::uint64_t one = 1;
  CHECK(::write(box.bell, &one, sizeof one) == sizeof one);
}

void hub::post(model::node_id to, packet&& arriving, urgency how) {
  mailbox& box = *mailboxes_.at(to.value());
  if (box.failed) return;
  box.lock.lock();
  box.packets.push_back(std::move(arriving));
  const bool wake = box.armed && how >= box.least;
  if (wake) box.armed = false;
  box.lock.unlock();
  if (wake) ring(box);
}

void hub::fail(model::node_id node) noexcept {
  mailboxes_[node.value()]->failed = true;
  ++failures_;
  for (auto& box : mailboxes_) ring(*box);
}

class endpoint final : public transport {
 public:
  endpoint(std::shared_ptr<hub> shared, model::node_id self)
      : hub_(std::move(shared)), self_(self), own_(*hub_->mailboxes_.at(self.value())), lost_(hub_->nodes()) {
    std::memcpy(address_, &self_, sizeof self_);
  }

  [[nodiscard]] std::span<const std::byte> address() const noexcept override { return address_; }

  [[nodiscard]] base::status connect(model::node_id self, std::span<const std::span<const std::byte>> addresses,
                                     sink& receiver) noexcept override {
    CHECK(sink_ == nullptr);
    if (self != self_ || addresses.size() != hub_->nodes()) return QUIRE_INVALID;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const model::node_id expected{static_cast<std::uint16_t>(i)};
      if (addresses[i].size() != sizeof address_ || std::memcmp(addresses[i].data(), &expected, sizeof expected) != 0) {
        return QUIRE_INVALID;
      }
    }
    sink_ = &receiver;
    return QUIRE_OK;
  }

  void send(model::node_id to, const model::message& m, std::span<const std::byte> payload, urgency how,
            lasting) noexcept override {
    CHECK(to != self_ && to.value() < hub_->nodes() && m.payload_bytes == payload.size());
    if (own_.failed || lost_[to.value()]) return;
    ++traffic_.messages_sent;
    traffic_.bytes_sent += wire::header_bytes + payload.size();
    wire::header header;
    wire::encode(m, header);
    hub_->post(to, {{header.bytes, header.bytes + wire::header_bytes}, {payload.begin(), payload.end()}}, how);
  }

  void abandon(model::node_id peer) noexcept override { lost_[peer.value()] = true; }

  bool progress() noexcept override {
    constexpr int at_most = 16;
    bool happened = report_losses();
    for (int i = 0; i < at_most; ++i) {
      const auto arrived = take();
      if (!arrived) break;
      receive(*arrived);
      happened = true;
    }
    return happened;
  }
  [[nodiscard]] bool sends_pending() const noexcept override { return false; }
  [[nodiscard]] bool turn_period() noexcept override { return true; }

  [[nodiscard]] int descriptor() const noexcept override { return own_.bell; }
  [[nodiscard]] bool arm(urgency least) noexcept override {
    own_.lock.lock();
    std::uint64_t rung = 0;
    const bool quiet = own_.packets.empty() && ::read(own_.bell, &rung, sizeof rung) < 0;
    own_.armed = quiet;
    own_.least = least;
    own_.lock.unlock();
    return quiet;
  }
  void disarm() noexcept override {
    own_.lock.lock();
    own_.armed = false;
    own_.lock.unlock();
  }
  void signal() noexcept override { hub_->ring(own_); }

  base::status flush(int) noexcept override { return QUIRE_OK; }
  [[nodiscard]] const traffic& counters() const noexcept override { return traffic_; }
  [[nodiscard]] const char* name() const noexcept override { return "loopback"; }

 private:
  [[nodiscard]] std::optional<packet> take() noexcept {
    std::optional<packet> first;
    own_.lock.lock();
    if (!own_.packets.empty()) {
      first = std::move(own_.packets.front());
      own_.packets.pop_front();
    }
    own_.lock.unlock();
    return first;
  }

  void receive(const packet& arrived) noexcept {
    model::message m;
    if (!wire::decode(arrived.header, arrived.payload.size(), hub_->nodes(), m).ok()) {
      ++traffic_.refused;
      return;
    }
    if (!arrived.payload.empty()) {
      const landing spot = sink_->place(m);
      if (spot.is_too_late()) {
        ++traffic_.dropped;
        return;
      }
      base::copy_words(spot.address(), arrived.payload.data(), arrived.payload.size());
    }
    ++traffic_.messages_received;
    traffic_.bytes_received += wire::header_bytes + arrived.payload.size();
    sink_->deliver(m);
  }

  bool report_losses() noexcept {
    const unsigned failures = hub_->failures_;
    if (failures == failures_seen_ || own_.failed) return false;
    failures_seen_ = failures;
    for (std::size_t i = 0; i < lost_.size(); ++i) {
      if (lost_[i] || !hub_->mailboxes_[i]->failed) continue;
      lost_[i] = true;
      sink_->peer_lost(model::node_id{static_cast<std::uint16_t>(i)});
    }
    return true;
  }

  std::shared_ptr<hub> hub_;
  model::node_id self_;
  hub::mailbox& own_;
  std::byte address_[sizeof(model::node_id)];
  std::vector<bool> lost_;
  unsigned failures_seen_ = 0;
  sink* sink_ = nullptr;
  traffic traffic_;
};

std::unique_ptr<transport> open(std::shared_ptr<hub> shared, model::node_id self) {
  return std::make_unique<endpoint>(std::move(shared), self);
}

}  // namespace quire::transport::loopback
