// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation machines of a few (or a thousand) nodes with the messages between them in one bag, from which a test
// takes them in the order it likes. Counts messages between nodes, and sees to it that a call completes exactly once.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "sync/machine.hpp"

namespace quire::sync {

struct completion {
  std::uint64_t token = 0;
  quire_status status = QUIRE_OK;
  std::uint64_t object = 0;
  value values{};
};

struct in_flight {
  node_id to{};
  message m{};
  value values{};
  std::vector<std::byte> piece{};  ///< in place of `values`
  std::uint32_t number = 0;        ///< among those that the sender has sent: the same in equivalent schedules
};

/// How a call has ended, if it has.
using outcome = std::optional<quire_status>;
inline constexpr std::nullopt_t waits = std::nullopt;

inline node_id node(unsigned n) { return node_id{static_cast<std::uint16_t>(n)}; }

class cluster {
 public:
  explicit cluster(unsigned nodes, array_limits limits = {}) : sent_(nodes) {
    for (unsigned n = 0; n < nodes; ++n) machines_.push_back(std::make_unique<machine>(node(n), nodes, limits));
  }

  /// Calls on node `n`; the token is chosen here if the call has none.
  std::uint64_t start(unsigned n, call c) {
    if (c.token == 0) c.token = ++tokens_;
    open_[c.token] = n;
    actions_.clear();
    machines_[n]->on_call(c, actions_);
    perform(n);
    return c.token;
  }
  /// Whether and how a call has ended; tells it once.
  std::optional<completion> take(std::uint64_t token) {
    const auto found = done_.find(token);
    if (found == done_.end()) return {};
    const completion c = found->second;
    done_.erase(found);
    return c;
  }
  void cancel(unsigned n, std::uint64_t token) {
    actions_.clear();
    machines_[n]->on_cancel(token, actions_);
    perform(n);
  }
  /// Times that a mutex was kept for a moment, since the last look; and the end of such a moment.
  std::uint64_t take_lingers() { return std::exchange(lingers_, 0); }
  void end_linger(unsigned n, std::uint64_t object) {
    actions_.clear();
    machines_[n]->on_linger_over(object, actions_);
    perform(n);
  }
  void lose_peer(unsigned n) {
    actions_.clear();
    machines_[n]->on_peer_lost(actions_);
    perform(n);
  }
  /// Delivers message `i` of the bag; the last takes its place.
  void deliver(std::size_t i) {
    const in_flight next = bag_[i];
    bag_[i] = bag_.back();
    bag_.pop_back();
    arrive(next);
  }
  /// Delivers the oldest.
  void deliver_first() {
    const in_flight next = bag_.front();
    bag_.erase(bag_.begin());
    arrive(next);
  }
  /// Delivers everything, oldest first.
  void settle() {
    while (!bag_.empty()) deliver_first();
  }
  void inject(const in_flight& f) { bag_.push_back(f); }

  /// A call and all that follows from it; no completion if it still waits.
  std::optional<completion> run(unsigned n, const call& c) {
    const auto token = start(n, c);
    settle();
    return take(token);
  }
  outcome status_of(unsigned n, const call& c) {
    const auto token = start(n, c);
    settle();
    return status_of(token);
  }
  outcome status_of(std::uint64_t token) {
    const auto done = take(token);
    return done ? outcome(done->status) : waits;
  }

  [[nodiscard]] const std::vector<in_flight>& bag() const { return bag_; }
  [[nodiscard]] machine& at(unsigned n) { return *machines_[n]; }
  [[nodiscard]] unsigned nodes() const { return static_cast<unsigned>(machines_.size()); }
  [[nodiscard]] bool is_open(std::uint64_t token) const { return open_.contains(token); }
  /// Tokens that have completed since the last look, in order.
  std::vector<std::uint64_t> take_news() { return std::exchange(news_, {}); }
  /// Messages between different nodes since the last look.
  std::uint64_t take_messages() { return std::exchange(messages_, 0); }
  /// Nothing waits, nothing is on its way, every machine is well.
  void expect_rest() {
    EXPECT_TRUE(bag_.empty());
    EXPECT_TRUE(open_.empty());
    for (const auto& m : machines_) {
      EXPECT_EQ(m->waiting(), 0u);
      EXPECT_TRUE(m->is_valid());
    }
  }
  /// Nodes that have the right to lock.
  [[nodiscard]] unsigned tokens_of(std::uint64_t mutex) const {
    unsigned n = 0;
    for (const auto& m : machines_) n += m->locks().has_token(object_id{mutex}) ? 1 : 0;
    return n;
  }

 private:
  void arrive(const in_flight& f) {
    actions_.clear();
    machines_[f.to.value()]->on_message(f.m, f.piece.empty() ? f.values.bytes() : std::span<const std::byte>(f.piece),
                                        actions_);
    perform(f.to.value());
  }
  void perform(unsigned n) {
    for (const action& a : actions_) {
      if (a.kind == action_kind::send) {
        ASSERT_LT(a.to.value(), nodes());
        ASSERT_EQ(a.m.from, node(n));
        ASSERT_EQ(a.m.payload_bytes, a.payload().size());
        if (a.to != node(n)) ++messages_;
        bag_.push_back({a.to, a.m, a.values, {a.piece.begin(), a.piece.end()}, sent_[n]++});
      } else if (a.kind == action_kind::linger) {
        ++lingers_;
      } else {
        const auto found = open_.find(a.token);
        ASSERT_NE(found, open_.end()) << "token " << a.token << " completed twice, or never called";
        ASSERT_EQ(found->second, n);
        open_.erase(found);
        done_[a.token] = {a.token, a.status, a.object, a.values};
        news_.push_back(a.token);
      }
    }
    ASSERT_TRUE(machines_[n]->is_valid());
  }

  std::vector<std::unique_ptr<machine>> machines_;
  std::vector<std::uint32_t> sent_;
  std::vector<in_flight> bag_;
  std::vector<std::uint64_t> news_;
  std::map<std::uint64_t, unsigned> open_;
  std::map<std::uint64_t, completion> done_;
  actions actions_;
  std::uint64_t tokens_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t lingers_ = 0;
};

/// The oldest message of a pair of nodes; all that matters here is the order in a pair.
inline void deliver_any(cluster& c, std::mt19937_64& random) {
  const auto& bag = c.bag();
  std::size_t next = random() % bag.size();
  for (std::size_t i = 0; i < bag.size(); ++i)
    if (bag[i].m.from == bag[next].m.from && bag[i].to == bag[next].to && bag[i].number < bag[next].number) next = i;
  c.deliver(next);
}

// Calls, short to write.
inline call make_call(operation what, std::uint64_t object = 0, std::uint32_t thread = 0, std::uint64_t operand = 0) {
  call c;
  c.what = what;
  c.object = object;
  c.thread = thread;
  c.operand = operand;
  return c;
}
inline call make_try(operation what, std::uint64_t object, std::uint32_t thread = 0) {
  call c = make_call(what, object, thread);
  c.try_only = true;
  return c;
}
inline call make_reduce(const std::vector<double>& values, quire_operation how) {
  call c = make_call(operation::reduce_f64);
  c.count = static_cast<std::uint32_t>(values.size());
  c.combine = how;
  c.values = value(std::as_bytes(std::span(values)));
  return c;
}
inline call make_reduce(const std::vector<std::int64_t>& values, quire_operation how) {
  call c = make_call(operation::reduce_i64);
  c.count = static_cast<std::uint32_t>(values.size());
  c.combine = how;
  c.values = value(std::as_bytes(std::span(values)));
  return c;
}
template <class T>
std::vector<T> values_of(const completion& c) {
  std::vector<T> v(c.values.size() / sizeof(T));
  std::copy_n(c.values.bytes().data(), v.size() * sizeof(T), reinterpret_cast<std::byte*>(v.data()));
  return v;
}

}  // namespace quire::sync
