// SPDX-License-Identifier: BSD-3-Clause
// A release does not wait for diffs that went to its receiver. That node may have given the home away, so that the
// diffs are on their way still when its threads could go on: what was sent behind them is kept back there
// (src/protocol/release/gates.cpp). One schedule step by step, and programs in all orders.
#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "release_explore.hpp"
#include "sim/network.hpp"

namespace quire::sim::release_passing_test {
namespace {

using model::message_kind;
using sync::operation;
using testing::HasSubstr;

constexpr unsigned nodes = 3;
constexpr unsigned x = 0, v = 1, z = 2;  // the home at first, who writes, and the home in between

constexpr message_kind of(sync::kind k) { return sync::message_kind_of(k); }

/// What happens is what the test says, one thing at a time.
class script final : private release_driver {
 public:
  explicit script(const release_options& shape) : cluster(shape, *this) {}

  /// The thread goes on as long as it can by itself.
  void runs(std::size_t thread) {
    while (std::erase(ready_, thread) != 0) cluster.run_thread(thread);
  }
  /// The oldest message from one node to another arrives. It is of that kind.
  void arrives(unsigned from, unsigned to, message_kind kind) {
    auto& queue = flights_[{from, to}];
    ASSERT_FALSE(queue.empty()) << "no " << name_of(kind) << " from " << from << " to " << to;
    const flight f = std::move(queue.front());
    queue.pop_front();
    ASSERT_EQ(name_of(f.m.kind), name_of(kind));
    cluster.deliver(node_id{static_cast<std::uint16_t>(to)}, f.m, f.payload);
  }
  void all_arrives_at(unsigned from, unsigned to) {
    for (auto& queue = flights_[{from, to}]; !queue.empty();) arrives(from, to, queue.front().m.kind);
  }
  /// All that can happen does.
  void all_runs() {
    for (bool any = true; any;) {
      any = !ready_.empty();
      if (any) runs(ready_.front());
      for (unsigned pair = 0; pair < nodes * nodes; ++pair) {
        any |= !flights_[{pair / nodes, pair % nodes}].empty();
        all_arrives_at(pair / nodes, pair % nodes);
      }
    }
  }

 private:
  void send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) override {
    message sent = m;
    sent.from = from;
    flights_[{from.value(), to.value()}].push_back({sent, {payload.begin(), payload.end()}});
  }
  void go_on(std::size_t thread) override { ready_.push_back(thread); }

  struct flight {
    message m{};
    std::vector<std::byte> payload{};
  };
  std::vector<std::size_t> ready_{};
  std::map<std::pair<unsigned, unsigned>, std::deque<flight>> flights_{};

 public:
  release_cluster cluster;
};

release_options passing() {
  release_options o = shape(3, 1, 2);
  o.limited = true;  // homes are asked for
  return o;
}
release_program looks(release_cluster& c, std::size_t self, word w) { co_await c.read_anything(self, w); }
release_program writes(release_cluster& c, std::size_t self, std::uint64_t mutex, word w) {
  co_await c.call(self, operation::mutex_lock, mutex);
  co_await c.write(self, w, 7);
  co_await c.call(self, operation::mutex_unlock, mutex);
}
release_program reads(release_cluster& c, std::size_t self, std::uint64_t mutex, word w) {
  co_await c.call(self, operation::mutex_lock, mutex);
  co_await c.read(self, w);
  co_await c.call(self, operation::mutex_unlock, mutex);
}

release_program publishes(release_cluster& c, std::size_t self, word data, word flag) {
  co_await c.read_anything(self, data);
  co_await c.write(self, data, 7);
  co_await c.atomic(self, flag, model::atomic_operation::add, 1);
}
release_program subscribes(release_cluster& c, std::size_t self, word data, word flag) {
  const std::uint64_t seen = co_await c.atomic(self, flag, model::atomic_operation::add, 0);
  if (seen == 1) {
    co_await c.read(self, data);
  }
}

/// The home goes from X to Z and comes back, and does not meet the diff that X has passed on meanwhile.
void let_a_home_come_back_before_a_diff(script& s) {
  const std::uint64_t mutex = s.cluster.make_object(x, operation::mutex_create);
  const std::size_t looker = s.cluster.add_thread(v), writer = s.cluster.add_thread(v);
  const std::size_t reader = s.cluster.add_thread(x), back = s.cluster.add_thread(x), away = s.cluster.add_thread(z);
  s.cluster.begin(looker, looks(s.cluster, looker, 0));
  s.cluster.begin(writer, writes(s.cluster, writer, mutex, 0));
  s.cluster.begin(reader, reads(s.cluster, reader, mutex, 0));
  s.cluster.begin(back, takes(s.cluster, back, 0, 1));
  s.cluster.begin(away, takes(s.cluster, away, 0, 1));

  s.runs(looker);
  s.arrives(v, x, message_kind::copy_request);
  s.arrives(x, v, message_kind::copy_reply);  // V has a copy of X
  s.runs(looker);
  s.runs(away);
  s.arrives(z, x, message_kind::copy_request);
  s.arrives(x, z, message_kind::home_move);  // the home is Z, and V does not know
  s.runs(writer);
  s.arrives(v, x, of(sync::kind::lock_request));
  s.all_arrives_at(x, x);
  s.arrives(x, v, of(sync::kind::lock_grant));
  s.runs(writer);  // V writes, and unlocks
  s.runs(back);    // X asks Z for the home
  s.runs(reader);
  s.all_arrives_at(x, x);
  s.arrives(x, v, of(sync::kind::lock_pass));  // the diff goes to X, and behind it that it has been written
  s.arrives(v, x, message_kind::diffs);
  s.arrives(x, z, message_kind::copy_request);
  s.arrives(z, x, message_kind::home_move);  // X is the home again. The diff is on its way from X to Z
  s.arrives(v, x, message_kind::notices);
  s.arrives(v, x, of(sync::kind::lock_grant));
  s.runs(reader);
}

TEST(release_passing, what_is_told_behind_a_diff_that_is_passed_on_is_heard_when_it_has_arrived) {
  script s(passing());
  let_a_home_come_back_before_a_diff(s);
  EXPECT_EQ(s.cluster.failure(), "");
  EXPECT_EQ(s.cluster.node(x).arrivals().waiting(), 2u);
  EXPECT_TRUE(s.cluster.machine(x).is_home(0));
  s.arrives(x, z, message_kind::diffs);
  s.arrives(z, x, message_kind::diffs);  // it is in the content
  s.arrives(x, z, message_kind::diffs_ack);
  EXPECT_EQ(s.cluster.node(x).arrivals().waiting(), 2u);
  s.arrives(z, x, message_kind::diffs_ack);
  EXPECT_EQ(s.cluster.node(x).arrivals().waiting(), 0u);
  s.all_runs();
  s.cluster.check_quiet(true);
  EXPECT_EQ(s.cluster.failure(), "");
}

/// Why that is so.
TEST(release_passing_mutation, what_is_told_behind_a_diff_that_is_passed_on_is_heard_at_once) {
  script s(passing());
  s.cluster.tamper().keeps_nothing_back = true;
  let_a_home_come_back_before_a_diff(s);
  EXPECT_THAT(s.cluster.failure(), HasSubstr("a thread reads 0 from word 0, the last write left 7"));
}

// ---- In all orders

/// The same nodes, and all else that may happen.
void homes_go_and_come_back(release_cluster& c) {
  const std::uint64_t mutex = c.make_object(x, operation::mutex_create);
  with(c, v, looks, word{0});
  with(c, v, writes, mutex, word{0});
  with(c, x, reads, mutex, word{0});
  with(c, x, takes, word{0}, 1u);
  with(c, z, takes, word{0}, 1u);
}
TEST(release_passing, homes_that_go_and_come_back) { explore(passing(), homes_go_and_come_back, 40'000); }

/// Two writers of the unit, and a third node that is told by the one that was told first.
TEST(release_passing, what_was_kept_back_is_told_on) {
  explore(
      passing(),
      [](release_cluster& c) {
        const std::uint64_t mutex = c.make_object(x, operation::mutex_create);
        with(c, v, locked, mutex, word{0}, 1u);
        with(c, x, locked, mutex, word{0}, 1u);
        with(c, z, locked, mutex, word{0}, 1u);
        with(c, x, takes, word{0}, 1u);
        with(c, z, takes, word{0}, 1u);
      },
      40'000);
}

/// Two units with homes on two nodes: their old homes pass diffs on to one another.
release_program swaps(release_cluster& c, std::size_t self, std::uint64_t mutex, word mine, word theirs) {
  co_await c.read_anything(self, theirs);
  co_await c.call(self, operation::mutex_lock, mutex);
  co_await c.write(self, mine, co_await c.read(self, mine) + 1);
  co_await c.write(self, theirs, co_await c.read(self, theirs) + 1);
  co_await c.call(self, operation::mutex_unlock, mutex);
}
TEST(release_passing, two_nodes_keep_back_what_they_send_to_each_other) {
  release_options o = passing();
  o.units = 2;
  o.words = 1;
  o.placement = model::placement::modulo;
  explore(
      o,
      [](release_cluster& c) {
        const std::uint64_t mutex = c.make_object(z, operation::mutex_create);
        with(c, 0, swaps, mutex, word{0}, word{1});
        with(c, 1, swaps, mutex, word{1}, word{0});
        with(c, 0, takes, word{1}, 1u);
        with(c, 1, takes, word{0}, 1u);
        with(c, 2, takes, word{0}, 1u);
      },
      40'000);
}

TEST(release_passing, atomic_operations_tell_early) {
  release_options o = passing();
  o.units = 2;
  o.words = 1;
  explore(
      o,
      [](release_cluster& c) {
        with(c, v, publishes, word{0}, word{1});
        with(c, x, subscribes, word{0}, word{1});
        with(c, z, subscribes, word{0}, word{1});
        with(c, z, takes, word{0}, 1u);
        with(c, x, takes, word{0}, 1u);
      },
      40'000);
}

TEST(release_passing, pins_are_granted_behind_diffs_that_are_passed_on) {
  release_options o = passing();
  o.units = 2;
  o.words = 1;
  o.placement = model::placement::modulo;
  explore(
      o,
      [](release_cluster& c) {
        with(c, 1, pinned, word{1}, 1u, word{0});
        with(c, 0, pinned, word{1}, 1u, word{0});
        with(c, 2, takes, word{0}, 1u);
        with(c, 0, takes, word{0}, 1u);
      },
      40'000);
}

}  // namespace
}  // namespace quire::sim::release_passing_test
