// SPDX-License-Identifier: BSD-3-Clause
// What a driver does, round by round, and what must be over before a node may end. Driver's thread, unless said otherwise.
#include "core/core.hpp"

namespace quire::core {

bool core::round() noexcept {
  bool any = transport_->progress();
  if (!holds_.empty() && end_holds()) any = true;
  if (!lingers_.empty() && end_lingers()) any = true;
  if (quiet_waiter_ != nullptr) look_whether_quiet();
  if (survival_.announced.load(std::memory_order_acquire) != survival_.over) take_deaths();
  if (look_due_.load(std::memory_order_relaxed)) look_at_peers(now());
  if (frames_.over() || page_out_.under_way()) page_out();
  if (!local_.empty()) any = true;
  if (!local_.empty() || config_.replicas) settle();
  return any;
}

void core::execute(op& o) noexcept {
  o.execute(*this);  // it may end, and with it its memory
  settle();
}

/// Handles what this node sent to itself, until nothing is left.
void core::settle() noexcept {
  do {
    while (!local_.empty()) {
      const local_message next = local_.front();
      local_.pop();
      handle(next.m, std::span<const std::byte>(next.value).first(next.m.payload_bytes));
    }
    replicate();
  } while (!local_.empty());
  if (quiet_waiter_ != nullptr) look_whether_quiet();
}

void core::look_around() noexcept {
  look_at_peers(now());
  if (idle_.look != nullptr && idle_.look(idle_.context)) settle();
  tell_launcher();
}

void core::expect_end() noexcept {
  struct count_op : op {
    using op::op;
    std::uint64_t outstanding = 0;
  };
  ending_.store(true, std::memory_order_relaxed);
  for (std::uint64_t left = 1; left != 0;) {
    count_op o([](core& e, op& self) noexcept {
      e.config_.read_ahead = false;
      (void)e.transport_->progress();  // what comes for nobody wakes nobody
      e.drop_pins();
      auto& sum = static_cast<count_op&>(self).outstanding;
      e.regions_.for_each([&sum](const region_slot& r) { sum += r.machine->outstanding(); });
      // What is still queued here could not leave any more once the others have stopped.
      if (e.transport_->sends_pending() || !e.holds_.empty() || e.consistency_.busy() || e.replicas_.busy()) ++sum;
      self.complete();
    }, op::type::call);
    (void)run(o);
    left = o.outstanding;
    if (left != 0) host_.pause(100'000);
  }
}

}  // namespace quire::core
