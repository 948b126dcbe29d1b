// SPDX-License-Identifier: BSD-3-Clause
// What a domain of transactions wants done (protocol/transaction/agenda.hpp): in which order, where events come while
// actions of others are performed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/transaction/agenda.hpp"

namespace quire::transaction::transaction_agenda_test {
namespace {

using kind = agenda::action::kind;

/// A line for each action.
class performed {
 public:
  template <class Event>
  void feed(Event&& event) {
    const std::size_t before = asks.size();
    event(asks);
    while (const agenda::action* const a = asks.next(before, [this](agenda::step s) { go_on(s); })) {
      lines.push_back(said(*a));
      if (meanwhile) std::exchange(meanwhile, nullptr)(*this);
    }
  }
  static void ask(agenda& of, std::uint64_t unit, const char* value = "") {
    model::message m;
    m.unit = unit;
    of.transmit({}, m, std::as_bytes(std::span(std::string_view(value))));
  }
  agenda asks{};
  std::vector<std::string> lines{};
  void (*meanwhile)(performed&) = nullptr;
  unsigned steps_left = 0;

 private:
  void go_on(agenda::step s) {
    lines.push_back("step " + std::to_string(s.what) + " of " + std::to_string(s.of.value()));
    if (steps_left == 0) return;
    --steps_left;
    ask(asks, 100 + steps_left);
    asks.go_on(s);
  }
  static std::string said(const agenda::action& a) {
    if (a.what == kind::perform_all) return "all";
    if (a.what == kind::transmit)
      return "send " + std::to_string(a.m.unit) +
             std::string(reinterpret_cast<const char*>(a.value.data()), a.value.size());
    std::string units = "region " + std::to_string(a.region.value()) + ":";
    for (const model::action& one : *a.list) units += " " + std::to_string(one.unit);
    return units;
  }
};

using lines = std::vector<std::string>;

void perform(agenda& of, unsigned region, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    model::actions list;
    list.add(model::action_kind::wake, unit);
    of.perform(model::region_id{static_cast<std::uint16_t>(region)}, list);
  }
}

TEST(transaction_agenda, keeps_the_order_and_joins_lists_of_a_region) {
  performed p;
  p.feed([](agenda& of) {
    perform(of, 1, 0, 10);
    perform(of, 2, 5, 1);
    of.perform_all();
    performed::ask(of, 3, "abc");
    perform(of, 2, 6, 2);
  });
  EXPECT_EQ(p.lines,
            (lines{"region 1: 0 1 2 3 4 5 6 7", "region 1: 8 9", "region 2: 5", "all", "send 3abc", "region 2: 6 7"}));
  EXPECT_EQ(p.asks.size(), 0u);
  p.feed([](agenda& of) { of.perform({}, {}); });
  EXPECT_EQ(p.lines.size(), 6u) << "nothing is not performed";
}

/// What it asks for is done before its teller goes on, and before the rest of the other.
TEST(transaction_agenda, does_first_what_an_event_asks_for_that_comes_meanwhile) {
  performed p;
  p.meanwhile = [](performed& to) {
    to.feed([](agenda& of) {
      performed::ask(of, 7, "nested");
      performed::ask(of, 8);
    });
    to.lines.emplace_back("told");
  };
  p.feed([](agenda& of) {
    perform(of, 1, 0, 9);  // two lists: the event has begun with the first
    performed::ask(of, 2, "rest");
  });
  EXPECT_EQ(p.lines,
            (lines{"region 1: 0 1 2 3 4 5 6 7", "send 7nested", "send 8", "told", "region 1: 8", "send 2rest"}));
}

TEST(transaction_agenda, goes_on_when_all_before_is_done) {
  performed p;
  p.steps_left = 2;
  p.meanwhile = [](performed& to) { to.feed([](agenda& of) { performed::ask(of, 7); }); };
  p.feed([](agenda& of) {
    performed::ask(of, 1);
    of.go_on({4, model::node_id{2}});
  });
  EXPECT_EQ(p.lines, (lines{"send 1", "send 7", "step 4 of 2", "send 101", "step 4 of 2", "send 100", "step 4 of 2"}));
  EXPECT_EQ(p.asks.size(), 0u);
}

}  // namespace
}  // namespace quire::transaction::transaction_agenda_test
