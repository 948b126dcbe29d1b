// SPDX-License-Identifier: BSD-3-Clause
// Commits by the token (protocol/transaction/token), without a core: what becomes of content that comes from nodes all
// or behind; who is told of a commit by what. Nodes have a region of some units, and messages arrive when the test says
// so.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "protocol/transaction/protocol.hpp"
#include "protocol/transaction/token/domain.hpp"
#include "protocol/transaction/token/machine.hpp"

namespace quire::transaction::token::transaction_commits_test {
namespace {

using model::action_kind;
using model::fault_outcome;
using model::message;
using model::message_kind;

node_id node(unsigned n) { return node_id{static_cast<std::uint16_t>(n)}; }

constexpr model::region_id region{1};
constexpr std::uint64_t units = 4;

class job {
 public:
  explicit job(unsigned count) : count_(count), links_(count * std::size_t{count}) {
    for (unsigned n = 0; n < count; ++n) all_.push_back(std::make_unique<member>(*this, n));
  }
  [[nodiscard]] domain& at(unsigned n) { return *all_[n]->shared; }
  [[nodiscard]] machine& units_of(unsigned n) { return *all_[n]->machine; }
  [[nodiscard]] unsigned version(unsigned n, std::uint64_t unit) const { return all_[n]->frames[unit]; }
  [[nodiscard]] std::size_t on_the_way(unsigned from, unsigned to) const { return links_[from * count_ + to].size(); }
  fault_outcome fault(unsigned n, std::uint64_t unit, access want) {
    model::actions list;
    const auto outcome = units_of(n).on_fault(unit, want, list, 0);
    all_[n]->perform(list);
    return outcome;
  }
  void begin(unsigned n) { ASSERT_TRUE(at(n).word().try_begin()); }
  /// The running transaction writes a unit that is here.
  void write(unsigned n, std::uint64_t unit, unsigned version) {
    EXPECT_EQ(fault(n, unit, access::write), fault_outcome::local);
    all_[n]->copies[unit] = version;
  }
  template <class Event>
  void feed(unsigned n, Event&& event) {
    all_[n]->feed(event);
  }
  progress advance(unsigned n) {
    auto how = progress::doomed;
    feed(n, [&how](domain& of) { how = of.advance(); });
    return how;
  }
  progress commit(unsigned n) {
    const progress how = advance(n);
    if (how == progress::doomed) feed(n, [](domain& of) { of.undo(); });
    if (how != progress::paused) at(n).word().set(phase::idle, false);
    return how;
  }
  /// The first message of a link; its kind.
  message_kind deliver(unsigned from, unsigned to) {
    auto& link = links_[from * count_ + to];
    if (link.empty()) return message_kind::invalid;
    const letter l = std::move(link.front());
    link.pop_front();
    member& here = *all_[to];
    if (l.m.kind == message_kind::sync_first && here.shared->waits(l.m, l.value)) return l.m.kind;
    here.handle(l);
    return l.m.kind;
  }
  void deliver_all() { deliver_but_to(count_); }
  /// All but those that are to one node.
  void deliver_but_to(unsigned excepted) {
    for (bool any = true; any;) {
      any = false;
      for (unsigned from = 0; from < count_; ++from) {
        for (unsigned to = 0; to < count_; ++to) any |= to != excepted && deliver(from, to) != message_kind::invalid;
      }
    }
  }
  /// Node `from` sends a message that synchronises threads.
  void synchronise(unsigned from, unsigned to) {
    feed(from, [to](domain& of) { of.tell(node(to)); });
    message m;
    m.kind = message_kind::sync_first;
    m.from = node(from);
    links_[from * count_ + to].push_back({m, {}, 0});
  }
  [[nodiscard]] unsigned heard(unsigned n) const { return all_[n]->heard; }

 private:
  struct letter {
    message m{};
    std::vector<std::byte> value{};
    unsigned content = 0;
  };
  struct member {
    member(job& net, unsigned n) : net(net), number(n) {
      protocol::job j;
      j.self = node(n);
      j.nodes = net.count_;
      j.twin_pages = 2;
      j.memory.map = [](std::uint64_t bytes, int&) noexcept { return std::calloc(bytes, 1); };
      j.memory.unmap = [](void* what, std::uint64_t) noexcept { std::free(what); };
      owned = by_token().make_domain(j);
      shared = static_cast<domain*>(owned.get());
      protocol::region_shape shape;
      shape.region = region;
      shape.units = units;
      shape.managers = directory::manager_map::make(model::placement::node, net.count_, units, node(0), 1);
      int error = 0;
      made = by_token().make_machine(j, shape, *owned, error);
      machine = static_cast<token::machine*>(made.get());
      owned->on_region(region, *made, 0);
    }
    /// Tells the domain of an event, and does what it asks for.
    template <class Event>
    void feed(Event&& event) {
      protocol::feed(*shared, event, [this](const protocol::domain_action& a) {
        switch (a.what) {
          case protocol::domain_action::kind::transmit:
            net.links_[number * net.count_ + a.to.value()].push_back({a.m, {a.value.begin(), a.value.end()}, 0});
            break;
          case protocol::domain_action::kind::perform:
            perform(*a.list);
            break;
          case protocol::domain_action::kind::admit:
            handle({a.m, {}, 0});
            break;
          default:
            break;
        }
      });
    }
    void perform(const model::actions& list) {
      for (const model::action& a : list) {
        switch (a.kind) {
          case action_kind::send:
            net.links_[number * net.count_ + a.to.value()].push_back({a.m, {}, a.with_content ? frames[a.unit] : 0});
            break;
          case action_kind::publish:
            frames[a.unit] = copies[a.unit];
            break;
          case action_kind::protect:
            if (a.level == access::none) (void)shared->on_unmapped();
            break;
          case action_kind::permit:
            EXPECT_FALSE(shared->word().now() == phase::doomed) << "mapped while doomed";
            break;
          case action_kind::wake:
            break;
          default:
            ADD_FAILURE() << "action " << static_cast<int>(a.kind);
        }
      }
    }
    void handle(const letter& l) {
      if (l.m.kind == message_kind::sync_first) return void(++heard);
      if (l.m.kind != message_kind::version_request && l.m.kind != message_kind::version_reply) {
        feed([&l](domain& of) { EXPECT_TRUE(of.on_message(l.m, l.value)); });
        return;
      }
      if (l.content != 0) frames[l.m.unit] = l.content;
      model::actions list;
      machine->on_message(l.m, list);
      perform(list);
      EXPECT_TRUE(machine->is_unit_valid(l.m.unit) && shared->is_valid());
    }
    job& net;
    unsigned number, heard = 0;
    unsigned frames[units] = {}, copies[units] = {};
    std::unique_ptr<protocol::domain> owned{};
    domain* shared = nullptr;
    std::unique_ptr<model::machine> made{};
    token::machine* machine = nullptr;
  };
  unsigned count_;
  std::vector<std::deque<letter>> links_;
  std::vector<std::unique_ptr<member>> all_{};
};

/// A commit of node 0, or of another that has the token by then.
void write_once(job& all, unsigned n, std::uint64_t unit, unsigned version) {
  all.begin(n);
  all.write(n, unit, version);
  EXPECT_EQ(all.commit(n), progress::done);
}

TEST(transaction_token_nodes, read_what_was_committed_last) {
  job all(3);
  write_once(all, 0, 1, 11);
  EXPECT_EQ(all.on_the_way(0, 1) + all.on_the_way(0, 2), 2u) << "a write set to each other node, and nothing else";
  all.deliver_all();
  EXPECT_EQ(all.fault(2, 1, access::read), fault_outcome::started);
  EXPECT_EQ(all.fault(2, 1, access::read), fault_outcome::joined);
  all.deliver_all();
  EXPECT_EQ(all.version(2, 1), 11u);
  EXPECT_EQ(all.units_of(2).mapped(1), access::read);
  EXPECT_EQ(all.fault(2, 0, access::read), fault_outcome::started);
  all.deliver_all();
  EXPECT_EQ(all.version(2, 0), 0u) << "nobody has written it";
}

/// Node 1 asks for what node 0 has committed, and commits a second version. Node 2 gets that from node 1 before it has
/// heard of the first commit.
TEST(transaction_token_nodes, see_no_content_of_a_commit_that_they_have_not_applied) {
  job all(3);
  write_once(all, 0, 1, 11);
  EXPECT_EQ(all.deliver(0, 1), message_kind::write_set);
  EXPECT_EQ(all.fault(1, 1, access::read), fault_outcome::started);
  all.deliver(1, 0);
  all.deliver(0, 1);
  EXPECT_EQ(all.units_of(1).mapped(1), access::read);
  // Node 1 commits unit 1: it is its owner, and ahead of node 2, which has heard of nothing.
  all.begin(1);
  all.write(1, 1, 12);
  EXPECT_EQ(all.commit(1), progress::paused);
  while (all.at(1).is_paused()) {
    ASSERT_TRUE(all.deliver(1, 0) != message_kind::invalid || all.deliver(0, 0) != message_kind::invalid ||
                all.deliver(0, 1) != message_kind::invalid);
  }
  EXPECT_EQ(all.commit(1), progress::done);
  EXPECT_EQ(all.fault(2, 1, access::read), fault_outcome::started);  // it asks node 0, which passes it on
  EXPECT_EQ(all.deliver(1, 0), message_kind::write_set);             // as it knows of the second commit
  EXPECT_EQ(all.deliver(2, 0), message_kind::version_request);
  EXPECT_EQ(all.deliver(0, 1), message_kind::version_request);
  EXPECT_EQ(all.deliver(1, 2), message_kind::write_set);  // the second one; the first is still on its way from node 0
  EXPECT_EQ(all.deliver(1, 2), message_kind::version_reply);
  EXPECT_EQ(all.at(2).applied(), 0u);
  EXPECT_EQ(all.units_of(2).mapped(1), access::none) << "it would see the second commit before the first";
  EXPECT_FALSE(all.units_of(2).has_content(1));
  EXPECT_EQ(all.deliver(0, 2), message_kind::write_set);
  EXPECT_EQ(all.at(2).applied(), 2u);
  EXPECT_EQ(all.units_of(2).mapped(1), access::read);
  EXPECT_EQ(all.version(2, 1), 12u);
  EXPECT_EQ(all.units_of(2).outstanding(), 0u);
}

/// The first version is on its way to node 2 from its owner, node 0, when node 1 commits the second one.
TEST(transaction_token_nodes, ask_again_for_what_is_stale) {
  job all(3);
  write_once(all, 0, 1, 11);
  all.deliver_all();
  EXPECT_EQ(all.fault(1, 1, access::read), fault_outcome::started);
  all.deliver_all();
  EXPECT_EQ(all.fault(2, 1, access::read), fault_outcome::started);
  EXPECT_EQ(all.deliver(2, 0), message_kind::version_request);  // and the answer waits
  all.begin(1);
  all.write(1, 1, 12);
  EXPECT_EQ(all.commit(1), progress::paused);
  EXPECT_EQ(all.deliver(1, 0), message_kind::token_request);
  EXPECT_EQ(all.deliver(0, 0), message_kind::token_next);
  EXPECT_EQ(all.deliver(0, 1), message_kind::token);
  EXPECT_EQ(all.commit(1), progress::done);
  EXPECT_EQ(all.deliver(1, 2), message_kind::write_set);
  EXPECT_EQ(all.deliver(0, 2), message_kind::version_reply);
  EXPECT_EQ(all.at(2).stale(), 1u);
  EXPECT_EQ(all.units_of(2).mapped(1), access::none);
  EXPECT_EQ(all.on_the_way(2, 1), 1u) << "the new owner is asked at once";
  all.deliver_all();
  EXPECT_EQ(all.version(2, 1), 12u);
  EXPECT_EQ(all.units_of(2).mapped(1), access::read);
}

/// Nodes 0 and 1 write a unit in turns, and each version is overwritten before it comes to node 2, whose transaction
/// would wait for ever.
TEST(transaction_token_nodes, that_are_told_what_is_stale_again_and_again_begin_again) {
  job all(3);
  write_once(all, 0, 1, 11);
  all.deliver_all();
  all.begin(2);
  EXPECT_EQ(all.fault(2, 1, access::read), fault_outcome::started);
  for (unsigned round = 0; round < machine::most_stale; ++round) {
    EXPECT_EQ(all.at(2).word().now(), phase::running) << "round " << round;
    const unsigned owner = round % 2, next = 1 - owner;
    while (all.deliver(2, owner) != message_kind::invalid) {
    }
    all.deliver_but_to(2);
    (void)all.fault(next, 1, access::read);
    all.deliver_but_to(2);
    all.begin(next);
    all.write(next, 1, 12 + round);
    while (all.advance(next) == progress::paused) all.deliver_but_to(2);
    all.at(next).word().set(phase::idle, false);
    while (all.deliver(next, 2) != message_kind::invalid) {
    }
    while (all.deliver(owner, 2) != message_kind::invalid) {
    }
    EXPECT_EQ(all.at(2).stale(), round + 1);
  }
  EXPECT_EQ(all.at(2).word().now(), phase::doomed);
  EXPECT_EQ(all.at(2).count().dooms, 1u);
  EXPECT_EQ(all.commit(2), progress::doomed);
  all.deliver_all();
  EXPECT_EQ(all.version(2, 1), 12u + machine::most_stale - 1) << "it has been asked for nevertheless";
  all.begin(2);
  EXPECT_EQ(all.fault(2, 1, access::read), fault_outcome::local);
}

/// Nobody hears from node 1, which may have been stopped: what waits for it has a bound.
TEST(transaction_token_nodes, wait_for_one_that_does_not_apply_what_they_commit) {
  job all(3);
  const auto to_node_2 = [&] {
    while (all.deliver(0, 2) != message_kind::invalid) {
    }
    while (all.deliver(2, 0) != message_kind::invalid) {
    }
  };
  for (unsigned i = 1; i <= domain::most_ahead; ++i) {
    write_once(all, 0, i % units, i);
    to_node_2();
  }
  EXPECT_EQ(all.on_the_way(0, 1), domain::most_ahead);
  all.begin(0);
  all.write(0, 1, 7);
  EXPECT_EQ(all.commit(0), progress::paused);
  EXPECT_TRUE(all.at(0).is_paused()) << "the token alone does not do";
  for (unsigned i = 1; i < domain::told_every; ++i) (void)all.deliver(0, 1);
  EXPECT_EQ(all.deliver(1, 0), message_kind::invalid);
  EXPECT_EQ(all.deliver(0, 1), message_kind::write_set);
  EXPECT_TRUE(all.at(0).is_paused());
  EXPECT_EQ(all.deliver(1, 0), message_kind::commits_known);
  EXPECT_FALSE(all.at(0).is_paused());
  EXPECT_EQ(all.commit(0), progress::done);
  // Nor does one that has its turn go on beyond.
  for (unsigned i = 1; i < domain::told_every; ++i) write_once(all, 0, i % units, i), to_node_2();
  all.begin(0);
  all.feed(0, [](domain& of) { of.ask_turn(); });
  EXPECT_FALSE(all.at(0).has_turn());
  all.deliver_all();
  EXPECT_TRUE(all.at(0).has_turn());
  all.feed(0, [](domain& of) { of.end_turn(); });
  EXPECT_EQ(all.at(1).applied(), all.at(0).applied());
}

/// Two pages of private copies may stay.
TEST(transaction_token_nodes, count_private_copies_no_longer_when_the_region_goes) {
  job all(1);
  for (const unsigned unit : {3u, 1u, 2u}) write_once(all, 0, unit, 10 + unit);
  EXPECT_TRUE(all.units_of(0).is_kept(3) && all.units_of(0).is_kept(1));
  EXPECT_FALSE(all.units_of(0).is_kept(2));
  EXPECT_FALSE(all.at(0).keep_copy(1));
  all.units_of(0).forget();
  EXPECT_TRUE(all.at(0).keep_copy(2 * 4096));
}

/// What was mapped for a transaction that is over dooms no later one.
TEST(transaction_token_nodes, are_not_doomed_by_commits_to_what_they_have_hidden) {
  for (const bool hides : {false, true}) {
    job all(2);
    write_once(all, 0, 1, 11);
    all.deliver_all();
    all.begin(1);
    EXPECT_EQ(all.fault(1, 1, access::read), fault_outcome::started);
    all.deliver_all();
    EXPECT_EQ(all.commit(1), progress::done);
    if (hides) all.feed(1, [](domain& of) { of.hide(region, 0, units); });
    EXPECT_EQ(all.units_of(1).mapped(1), hides ? access::none : access::read);
    EXPECT_TRUE(all.units_of(1).has_content(1));
    all.begin(1);
    write_once(all, 0, 1, 12);
    all.deliver_all();
    EXPECT_EQ(all.at(1).word().now(), hides ? phase::running : phase::doomed);
    EXPECT_FALSE(all.units_of(1).has_content(1));
  }
}

TEST(transaction_token_nodes, are_doomed_by_who_comes_first) {
  job all(2);
  EXPECT_EQ(all.fault(1, 1, access::read), fault_outcome::started);
  all.deliver_all();
  all.begin(1);
  all.write(1, 1, 12);
  write_once(all, 0, 1, 11);
  EXPECT_EQ(all.commit(1), progress::paused) << "it waits for the token";
  EXPECT_EQ(all.deliver(0, 1), message_kind::write_set);
  EXPECT_EQ(all.at(1).word().now(), phase::doomed);
  EXPECT_EQ(all.commit(1), progress::doomed);
  all.deliver_all();
  EXPECT_EQ(all.at(1).count().commits, 0u);
  EXPECT_TRUE(all.at(1).is_quiet());
  EXPECT_EQ(all.fault(1, 1, access::read), fault_outcome::started);
  all.deliver_all();
  EXPECT_EQ(all.version(1, 1), 11u);
}

/// Who reads other units is not doomed.
TEST(transaction_token_nodes, that_use_other_units_go_on) {
  job all(2);
  EXPECT_EQ(all.fault(1, 1, access::read), fault_outcome::started);
  all.deliver_all();
  all.begin(1);
  all.write(1, 1, 12);
  write_once(all, 0, 2, 11);
  all.deliver_all();
  EXPECT_EQ(all.commit(1), progress::paused);
  all.deliver_all();
  EXPECT_EQ(all.commit(1), progress::done);
  EXPECT_EQ(all.at(1).applied(), 2u);
}

TEST(transaction_token_nodes, have_their_turn_with_the_token) {
  job all(2);
  all.begin(1);
  all.feed(1, [](domain& of) { of.ask_turn(); });
  EXPECT_FALSE(all.at(1).has_turn());
  all.deliver_all();
  EXPECT_TRUE(all.at(1).has_turn());
  all.begin(0);
  all.write(0, 1, 11);
  EXPECT_EQ(all.commit(0), progress::paused);
  all.deliver_all();
  EXPECT_EQ(all.commit(0), progress::paused) << "the token is not to be had";
  EXPECT_EQ(all.commit(1), progress::done);
  EXPECT_TRUE(all.at(1).has_turn()) << "until it is ended";
  all.feed(1, [](domain& of) { of.end_turn(); });
  all.deliver_all();
  EXPECT_EQ(all.commit(0), progress::done);
}

/// Node 0 commits; node 1 hears of it first, and tells node 2, which has heard of nothing, by a message.
TEST(transaction_token_nodes, hear_nothing_before_what_it_tells) {
  job all(3);
  write_once(all, 0, 1, 11);
  EXPECT_EQ(all.deliver(0, 1), message_kind::write_set);
  all.synchronise(1, 2);
  EXPECT_EQ(all.deliver(1, 2), message_kind::commits_known);
  EXPECT_EQ(all.deliver(1, 2), message_kind::sync_first);
  EXPECT_EQ(all.heard(2), 0u) << "a thread of node 2 would go on, and not see what node 1 has seen";
  EXPECT_EQ(all.deliver(0, 2), message_kind::write_set);
  EXPECT_EQ(all.heard(2), 1u);
  all.synchronise(1, 2);
  EXPECT_EQ(all.on_the_way(1, 2), 1u) << "nothing new is to be told";
}

}  // namespace
}  // namespace quire::transaction::token::transaction_commits_test
