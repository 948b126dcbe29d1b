// SPDX-License-Identifier: BSD-3-Clause
// The performer joins actions on neighbouring units into one system call or message, and keeps the order on each unit.
#include "core/performer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace quire;
using core::region_slot;
using model::access;
using model::action_kind;

std::vector<std::string> g_log;
std::byte* const application = reinterpret_cast<std::byte*>(0x10000000);

std::string pages(std::uint64_t first, std::uint64_t count) {
  return std::to_string(first) + "+" + std::to_string(count);
}

struct fake_pool final : pool::pool {
  std::byte* application_view() const noexcept override { return application; }
  std::byte* system_view() const noexcept override { return application; }
  std::uint64_t bytes() const noexcept override { return 1 << 30; }
  int give_back(std::uint64_t, std::size_t) noexcept override { return 0; }
  int populate(std::uint64_t offset, std::size_t length) noexcept override {
    g_log.push_back("populate " + pages(offset >> 12, length >> 12));
    return 0;
  }
  const char* name() const noexcept override { return "fake"; }
  const char* when_full() const noexcept override { return "full"; }
  int leave() noexcept override { return 0; }
  void dump(std::uint64_t, std::uint64_t) noexcept override {}
};

struct fake_detector final : detect::detector {
  int attach(std::byte*, std::uint64_t, bool) noexcept override { return 0; }
  void detach(std::byte*, std::uint64_t) noexcept override {}
  int permit(std::byte* at, std::size_t length, access, access to) noexcept override {
    g_log.push_back((to == access::read ? "read " : "write ") +
                    pages(static_cast<std::uint64_t>(at - application) >> 12, length >> 12));
    return 0;
  }
  int protect(std::byte* at, std::size_t length, access, access) noexcept override {
    g_log.push_back("protect " + pages(static_cast<std::uint64_t>(at - application) >> 12, length >> 12));
    return 0;
  }
  void wake(std::byte*, std::size_t) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  bool next(detect::fault_event&) noexcept override { return false; }
  bool accessible() const noexcept override { return true; }
  const char* name() const noexcept override { return "fake"; }
};

struct recorder final : core::effects {
  void send_units(region_slot&, model::node_id to, const model::message&, std::uint64_t first, std::uint64_t count,
                  bool content) noexcept override {
    g_log.push_back("send to " + std::to_string(to.value()) + " " + pages(first, count) + (content ? " content" : ""));
  }
  void use_frames(region_slot&, std::uint64_t, std::uint64_t, model::access) noexcept override {}
  void note_protected(region_slot&, model::access, model::access) noexcept override {}
  void publish(region_slot&, std::uint64_t, std::uint64_t) noexcept override {}
  void wake_units(region_slot&, std::uint64_t first, std::uint64_t count) noexcept override {
    g_log.push_back("wake " + pages(first, count));
  }
  void refuse_units(region_slot&, std::uint64_t first, std::uint64_t count, int error) noexcept override {
    g_log.push_back("refuse " + pages(first, count) + " " + std::to_string(error));
  }
  void leave_units(region_slot&, std::uint64_t first, std::uint64_t count, std::uint64_t end) noexcept override {
    g_log.push_back("leave " + std::to_string(end) + " " + pages(first, count));
  }
  void flush_units(region_slot&, std::uint64_t first, std::uint64_t count) noexcept override {
    g_log.push_back("flush " + pages(first, count));
  }
  void operate(region_slot&, const model::action&) noexcept override { g_log.push_back("operate"); }
  void complete_call(const model::message&) noexcept override { g_log.push_back("complete"); }
  void hold_unit(region_slot&, std::uint64_t unit, std::uint64_t) noexcept override {
    g_log.push_back("hold " + std::to_string(unit));
  }
  void make_twins(region_slot&, std::uint64_t first, std::uint64_t count) noexcept override {
    g_log.push_back("twins " + pages(first, count));
  }
  void send_diffs(region_slot&, const model::action& a, std::uint64_t count) noexcept override {
    g_log.push_back("diffs to " + std::to_string(a.to.value()) + " " + pages(a.unit, count));
  }
  void send_patch(region_slot&, const model::action& a) noexcept override {
    g_log.push_back("patch of " + pages(a.unit, 1));
  }
  void end_of_actions() noexcept override { ++ends; }
  int ends = 0;
};

class performer : public testing::Test {
 protected:
  performer() {
    g_log.clear();
    region.memory = std::make_unique<fake_pool>();
    region.dumped.cover(region.memory->bytes());
    region.detector = &detector;
  }
  void protect(std::uint64_t unit) {
    auto& a = step.add(action_kind::protect, unit);
    a.from = access::write;
    a.level = access::read;
  }
  void permit(std::uint64_t unit, bool fresh = false) {
    auto& a = step.add(action_kind::permit, unit);
    a.level = access::read;
    a.fresh = fresh;
  }
  void send(std::uint64_t unit, std::uint16_t to, bool content, std::uint64_t token = 0) {
    auto& a = step.add(action_kind::send, unit);
    a.to = model::node_id{to};
    a.m.unit = unit;
    a.m.token = token;
    a.with_content = content;
  }
  void end_step() {
    under_test.take(region, step);
    step.clear();
  }
  std::vector<std::string> performed() {
    under_test.flush();
    return g_log;
  }

  fake_detector detector;
  region_slot region;
  recorder to;
  core::performer under_test{to};
  model::actions step;
};

using strings = std::vector<std::string>;

TEST_F(performer, units_in_a_row_become_one_call_and_one_message) {
  for (std::uint64_t unit = 5; unit < 13; ++unit) {
    protect(unit);
    send(unit, 1, true);
    end_step();
  }
  EXPECT_EQ(performed(), (strings{"protect 5+8", "send to 1 5+8 content"}));
}

TEST_F(performer, closed_pages_are_not_touched_when_their_neighbours_are_permitted) {
  ASSERT_EQ(region.closed.cover(region.memory->bytes()), 0);
  region.closed.close(7 * 4096, 2 * 4096);
  for (std::uint64_t unit = 5; unit < 13; ++unit) permit(unit);
  end_step();
  for (std::uint64_t unit = 7; unit < 13; ++unit) protect(unit);
  end_step();
  permit(8);
  end_step();
  const strings found = performed();
  EXPECT_EQ(strings(found.begin(), found.begin() + 3), (strings{"read 5+2", "read 9+4", "protect 9+4"}));
  for (std::size_t i = 3; i < found.size(); ++i) EXPECT_EQ(found[i].rfind("read", 0), std::string::npos) << found[i];
}

TEST_F(performer, gaps_other_receivers_and_calls_of_threads_do_not_join) {
  send(1, 1, false);
  send(3, 1, false);
  send(4, 2, false);
  send(5, 2, false, 77);
  end_step();
  EXPECT_EQ(performed(), (strings{"send to 1 1+1", "send to 1 3+1", "send to 2 4+1", "send to 2 5+1"}));
}

TEST_F(performer, the_order_on_a_unit_is_kept_when_it_is_taken_away_at_once) {
  permit(7);
  protect(7);
  send(7, 2, true);
  permit(8);
  end_step();
  // Unit 8 may join unit 7's permission: nothing later touches unit 8.
  EXPECT_EQ(performed(), (strings{"read 7+2", "protect 7+1", "send to 2 7+1 content"}));
}

TEST_F(performer, joining_across_a_later_action_on_the_same_unit_is_refused) {
  permit(7);
  protect(8);
  permit(8);
  end_step();
  EXPECT_EQ(performed(), (strings{"read 7+1", "protect 8+1", "read 8+1"}));
}

TEST_F(performer, content_is_cut_at_the_largest_payload) {
  const std::uint64_t most = core::max_content_bytes >> 12;
  for (std::uint64_t unit = 0; unit < most + 1; ++unit) {
    send(unit, 1, true);
    end_step();
  }
  EXPECT_EQ(performed(),
            (strings{"send to 1 " + pages(0, most) + " content", "send to 1 " + pages(most, 1) + " content"}));
}

/// No message may speak of more units than the receiver lets one speak of.
TEST_F(performer, a_message_speaks_of_no_more_units_than_the_wire_allows) {
  const std::uint64_t most = wire::max_count;
  for (std::uint64_t unit = 0; unit < most + 1; ++unit) {
    send(unit, 1, false);
    end_step();
  }
  EXPECT_EQ(performed(), (strings{"send to 1 " + pages(0, most), "send to 1 " + pages(most, 1)}));
}

TEST_F(performer, fresh_frames_are_made_before_they_are_mapped) {
  permit(0, true);
  permit(1, true);
  end_step();
  EXPECT_EQ(performed(), (strings{"populate 0+2", "read 0+2"}));
}

/// What waits for the end of actions may count on all of them: a step is never left half performed.
TEST_F(performer, the_end_is_told_between_steps_and_not_when_there_is_no_room) {
  for (std::uint64_t unit = 0; unit < 200; unit += 2) {
    send(unit, 1, false);
    end_step();
  }
  EXPECT_GT(g_log.size(), 0u) << "some had no room to wait";
  EXPECT_EQ(to.ends, 0);
  EXPECT_EQ(performed().size(), 100u);
  EXPECT_EQ(to.ends, 1);
}
TEST_F(performer, more_runs_than_fit_are_performed_on_the_way) {
  for (std::uint64_t unit = 0; unit < 200; unit += 2) {
    send(unit, 1, false);
    end_step();
  }
  EXPECT_EQ(performed().size(), 100u);
}

}  // namespace
