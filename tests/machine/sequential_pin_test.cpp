// SPDX-License-Identifier: BSD-3-Clause
// Page locking (KOAN: acquire and release): a pinned unit is the node's alone, and requests of others wait where they
// are until the last pin ends (invariant I8 of src/protocol/sequential/README.md).
#include "sequential_chart.hpp"

namespace quire::sequential::sequential_pin_test {
namespace {

TEST(sequential_pin, unit_that_the_node_may_write_costs_no_message) {
  chart c(2);
  c.before(1, access::write);
  EXPECT_EQ(c.pin(1), fault_outcome::local);
  EXPECT_TRUE(c.unpin(1));
  EXPECT_EQ(c.hops(), 0u);
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    1: unpin
  )"));
}

TEST(sequential_pin, absent_unit_is_fetched_for_writing_and_pinned_when_it_comes) {
  chart c(2);
  c.before(0, access::write);
  EXPECT_EQ(c.pin(1), fault_outcome::started);
  c.run();
  EXPECT_EQ(c.at(1).unit(0).pinned, 1u) << "before the thread is back";
  EXPECT_EQ(c.pin_again(1), fault_outcome::local);
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    1 -> 0 write_request
    0: protect write > none
    0 -> 1 write_reply +data
    1: permit none > write
    1: wake
    1: pin again
  )"));
}

TEST(sequential_pin, write_of_another_node_waits_for_the_release) {
  chart c(3);
  c.before(1, access::write);
  (void)c.pin(1);
  (void)c.fault(2, access::write);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    2: write fault
    2 -> 0 write_request
    0 -> 1 fetch_write
  )"));
  EXPECT_EQ(c.at(1).count().pin_waits, 1u);
  EXPECT_TRUE(c.unpin(1));
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: unpin
    1: protect write > none
    1 -> 2 write_reply +data
    2: permit none > write
    2 -> 0 done
    2: wake
  )"));
}

TEST(sequential_pin, read_of_another_node_waits_too) {
  chart c(3);
  c.before(1, access::write);
  (void)c.pin(1);
  (void)c.fault(2, access::read);
  c.run();
  (void)c.take();
  (void)c.unpin(1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: unpin
    1: protect write > read
    1 -> 2 read_reply +data
    2: permit none > read
    2 -> 0 done
    2: wake
  )"));
}

TEST(sequential_pin, request_that_the_manager_could_settle_queues_while_its_own_node_has_the_pin) {
  chart c(2);
  (void)c.pin(0);
  (void)c.fault(1, access::read);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: pin
    0: permit none > write
    1: read fault
    1 -> 0 read_request
    0 -> 0 fetch_read
  )"));
  EXPECT_EQ(c.at(0).pins().holder_of(0), node_id{0});
  (void)c.unpin(0);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    0: unpin
    0: protect write > read
    0 -> 1 read_reply +data
    1: permit none > read
    1 -> 0 done
    1: wake
  )"));
}

TEST(sequential_pin, requests_that_wait_are_served_in_their_order) {
  chart c(4);
  c.before(1, access::write);
  (void)c.pin(1);
  (void)c.pin(2);
  (void)c.pin(3);
  c.run();
  (void)c.unpin(1);
  c.run();
  EXPECT_EQ(c.pin_again(2), fault_outcome::local);
  EXPECT_EQ(c.at(3).unit(0).pinned, 0u);
  (void)c.unpin(2);
  c.run();
  EXPECT_EQ(c.pin_again(3), fault_outcome::local);
}

TEST(sequential_pin, atomic_operation_of_another_node_waits) {
  chart c(3);
  c.before(1, access::write);
  (void)c.pin(1);
  c.add(2, 5);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    2: add
    2 -> 0 atomic_request
    0 -> 1 atomic_fetch
  )"));
  c.add(1, 5);
  (void)c.unpin(1);
  c.run();
  EXPECT_EQ(c.take(), lines(R"(
    1: add
    1: operate here
    1: unpin
    1: operate
    1 -> 2 atomic_reply
    2 -> 0 done
    2: complete
  )"));
}

TEST(sequential_pin, push_of_another_node_waits) {
  chart c(3);
  c.before(1, access::write);
  (void)c.pin(1);
  c.push(2);
  c.run();
  EXPECT_EQ(c.at(2).right_of(0), access::none);
  (void)c.take();
  (void)c.unpin(1);
  c.run();
  EXPECT_NE(c.take().find("0 -> 2 push_reply"), std::string::npos);
  EXPECT_EQ(c.at(1).right_of(0), access::read);
}

TEST(sequential_pin, ends_with_the_last_of_nested_pins) {
  chart c(2);
  c.before(1, access::write);
  (void)c.pin(1);
  (void)c.pin(1);
  (void)c.fault(0, access::read);
  c.run();
  (void)c.take();
  EXPECT_TRUE(c.unpin(1));
  EXPECT_EQ(c.take(), lines("1: unpin"));
  EXPECT_TRUE(c.unpin(1));
  EXPECT_NE(c.take().find("1 -> 0 read_reply +data"), std::string::npos);
  EXPECT_FALSE(c.unpin(1)) << "nothing is pinned any more";
}

TEST(sequential_pin, upgrade_is_pinned_when_the_grant_comes) {
  chart c(3);
  c.before(1, access::write);
  c.before(2, access::read);
  EXPECT_EQ(c.pin(2), fault_outcome::started);
  c.run();
  EXPECT_EQ(c.pin_again(2), fault_outcome::local);
  EXPECT_EQ(c.payloads(), 0u);
}

TEST(sequential_pin, unit_that_is_on_its_way_for_reading_is_asked_for_again) {
  chart c(2);
  c.before(0, access::write);
  (void)c.fault(1, access::read);
  EXPECT_EQ(c.pin(1), fault_outcome::joined);
  c.run();
  EXPECT_EQ(c.at(1).unit(0).pinned, 0u) << "a copy is no pin";
  EXPECT_EQ(c.pin_again(1), fault_outcome::started);
  c.run();
  EXPECT_EQ(c.pin_again(1), fault_outcome::local);
}

// An atomic operation makes its owner's unit writable. A pin that takes advantage must let in the threads that still
// wait for this node's own request, which may queue behind the very request that waits for the end of the pin.
TEST(sequential_pin, thread_that_waits_for_an_upgrade_is_let_in_when_another_pins_the_unit) {
  chart c(3);
  c.before(1, access::write);
  c.before(2, access::read);
  c.add(0, 1);
  c.deliver(message_kind::atomic_request, 0);
  EXPECT_EQ(c.fault(1, access::write), fault_outcome::started);
  c.deliver(message_kind::write_request, 0);
  c.deliver(message_kind::invalidate, 2);
  c.deliver(message_kind::invalidate_ack, 0);
  c.deliver(message_kind::atomic_fetch, 1);
  (void)c.take();
  EXPECT_EQ(c.pin(1), fault_outcome::local);
  EXPECT_EQ(c.take(), lines(R"(
    1: pin
    1: permit read > write
    1: wake
  )"));
  c.run();
  EXPECT_EQ(c.at(1).right_of(0), access::write);
  EXPECT_TRUE(c.unpin(1));
}

TEST(sequential_pin, order_that_comes_while_a_pin_only_waits_is_obeyed) {
  chart c(3);
  c.before(1, access::write);
  c.before(2, access::read);
  (void)c.fault(0, access::write);
  c.deliver(message_kind::write_request, 0);
  EXPECT_EQ(c.pin(2), fault_outcome::started);
  c.run();
  EXPECT_EQ(c.pin_again(2), fault_outcome::local);
  EXPECT_EQ(c.at(0).right_of(0), access::none);
}

TEST(sequential_pin, waiting_thread_that_gives_up_leaves_a_plain_request) {
  chart c(3);
  c.before(1, access::write);
  (void)c.pin(1);
  EXPECT_EQ(c.pin(2), fault_outcome::started);
  c.run();
  c.give_up(2);
  (void)c.unpin(1);
  c.run();
  EXPECT_EQ(c.at(2).right_of(0), access::write);
  EXPECT_EQ(c.at(2).unit(0).pinned, 0u);
  EXPECT_FALSE(c.unpin(2));
  (void)c.fault(1, access::write);
  c.run();
  EXPECT_EQ(c.at(1).right_of(0), access::write);
}

TEST(sequential_pin, thread_that_gives_up_when_the_unit_has_just_come_ends_the_pin) {
  chart c(3);
  c.before(1, access::write);
  (void)c.pin(2);
  c.run();
  (void)c.fault(1, access::read);
  c.run();
  (void)c.take();
  c.give_up(2);
  EXPECT_NE(c.take().find("2 -> 1 read_reply +data"), std::string::npos);
}

TEST(sequential_pin, nobody_pins_more_than_the_limit) {
  chart c(3);  // three units a node
  for (const std::uint64_t unit : {0u, 1u, 2u}) EXPECT_NE(c.pin(0, unit), fault_outcome::refused);
  c.run();
  EXPECT_EQ(c.at(0).pins().on_pin(0, *std::make_unique<model::actions>()), fault_outcome::local) << "not one unit more";
  pin_table full(1);
  EXPECT_TRUE(full.add(model::region_id{0}, 5));
  EXPECT_TRUE(full.add(model::region_id{0}, 5));
  EXPECT_FALSE(full.add(model::region_id{0}, 6));
  EXPECT_FALSE(full.add(model::region_id{1}, 5));
}

TEST(sequential_pin, manager_tells_who_has_the_unit_while_requests_wait) {
  chart c(4);
  EXPECT_EQ(c.at(0).pins().holder_of(0), node_id{0});
  c.before(1, access::write);
  EXPECT_EQ(c.at(0).pins().holder_of(0), node_id{1});
  (void)c.pin(1);
  (void)c.pin(2);
  (void)c.pin(3);
  c.run();
  EXPECT_EQ(c.at(0).pins().holder_of(0), node_id{1}) << "not the next";
  (void)c.unpin(1);
  c.run();
  EXPECT_EQ(c.at(0).pins().holder_of(0), node_id{2});
}

TEST(sequential_pin, node_that_leaves_ends_all_its_pins) {
  chart c(2);
  c.before(1, access::write);
  (void)c.pin(1);
  (void)c.pin(1);
  (void)c.fault(0, access::write);
  c.run();
  (void)c.take();
  model::actions out;
  c.at(1).pins().on_pins_dropped(0, out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].m.kind, message_kind::write_reply);
}

TEST(pin_table, keeps_what_is_in_it_whatever_comes_and_goes) {
  pin_table table(64);
  std::vector<std::uint32_t> counts(200, 0);
  std::size_t distinct = 0;
  std::uint64_t state = 7;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t unit = (state >> 33) % counts.size();
    const model::region_id region{static_cast<std::uint16_t>(unit % 3)};
    if ((state >> 60) % 2 == 0) {
      const bool room = counts[unit] != 0 || distinct < 64;
      ASSERT_EQ(table.add(region, unit), room);
      if (room && counts[unit]++ == 0) ++distinct;
    } else if (counts[unit] != 0) {
      table.remove(region, unit);
      counts[unit] = 0;
      --distinct;
    }
    ASSERT_EQ(table.size(), distinct);
    if (i % 64 != 0) continue;
    for (std::uint64_t u = 0; u < counts.size(); ++u) {
      const pin* const p = table.find(model::region_id{static_cast<std::uint16_t>(u % 3)}, u);
      ASSERT_EQ(p != nullptr ? p->count : 0, counts[u]);
    }
  }
}

}  // namespace
}  // namespace quire::sequential::sequential_pin_test
