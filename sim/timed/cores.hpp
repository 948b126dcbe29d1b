// SPDX-License-Identifier: BSD-3-Clause
// Cores that the nodes of a job share, as when all of them are on one machine: who computes, who waits for a core, and
// when one has had its slice. Without a number of cores each thread has its own.
//
// Threads that wait for others give way and need no core. What a runtime does takes microseconds and goes first: where
// no core is free it takes the time from a thread that computes (drive/threads.cpp asks for short slices). A thread
// that has waited goes first too, and takes the core of the one that has had it longest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/check.hpp"
#include "model/ids.hpp"
#include "sim/timed/prices.hpp"

namespace quire::timed {

using model::node_id;

class cores {
 public:
  /// A thread, by the number of its node.
  class threads {
   public:
    /// It has a core from now on, or none any more.
    virtual void on_core_changed(node_id who) = 0;
    /// Its core does something else for so long.
    virtual void on_stolen(node_id who, time_ns ns) = 0;

   protected:
    ~threads() = default;
  };

  cores(unsigned count, time_ns slice_ns, threads& of)
      : count_(count), slice_ns_(std::max<time_ns>(slice_ns, 1'000)), threads_(of) {}
  [[nodiscard]] bool unlimited() const noexcept { return count_ == 0; }
  [[nodiscard]] bool has(node_id who) const noexcept { return unlimited() || find(who) != running_.end(); }

  [[nodiscard]] bool any_free() const noexcept { return unlimited() || running_.size() < count_; }
  [[nodiscard]] time_ns end_of_slice(node_id who) const noexcept {
    return unlimited() ? ~time_ns{0} : find(who)->since + slice_ns_;
  }

  /// It wants to compute. If it has waited for something else until `now`, it has a core.
  void want(node_id who, time_ns now) {
    if (has(who) || std::find(queue_.begin(), queue_.end(), who) != queue_.end()) return;
    if (running_.size() >= count_)
      displace(std::min_element(running_.begin(), running_.end(), [](auto& x, auto& y) { return x.since < y.since; }));
    give(who, now);
  }
  /// It computes no more.
  void leave(node_id who, time_ns now) {
    if (const auto at = find(who); at != running_.end()) running_.erase(at);
    std::erase(queue_, who);
    refill(now);
  }
  /// If its slice is over, others that wait go first.
  void look_at_slice(node_id who, time_ns now) {
    if (unlimited() || !has(who) || now < end_of_slice(who)) return;
    running_[static_cast<std::size_t>(find(who) - running_.begin())].since = now;
    if (queue_.empty()) return;
    displace(find(who));
    refill(now);
  }
  /// The runtime of a node works for so long.
  void work(node_id of, time_ns ns) {
    if (any_free()) return;
    const auto own = find(of);
    threads_.on_stolen(own != running_.end() ? own->who : running_[++turn_ % running_.size()].who, ns);
  }

 private:
  struct run {
    node_id who;
    time_ns since;
  };
  [[nodiscard]] std::vector<run>::const_iterator find(node_id who) const noexcept {
    return std::find_if(running_.begin(), running_.end(), [&](const run& r) { return r.who == who; });
  }
  void give(node_id who, time_ns now) {
    running_.push_back({who, now});
    threads_.on_core_changed(who);
  }
  void displace(std::vector<run>::const_iterator at) {
    const node_id who = at->who;
    running_.erase(at);
    queue_.push_back(who);
    threads_.on_core_changed(who);
  }
  void refill(time_ns now) {
    while (!queue_.empty() && running_.size() < count_) {
      const node_id next = queue_.front();
      queue_.pop_front();
      give(next, now);
    }
  }

  unsigned count_;
  time_ns slice_ns_;
  threads& threads_;
  std::vector<run> running_{};
  std::deque<node_id> queue_{};
  std::size_t turn_ = 0;
};

}  // namespace quire::timed
