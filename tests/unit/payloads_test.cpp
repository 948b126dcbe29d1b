// SPDX-License-Identifier: BSD-3-Clause
// Payloads at the border of the engine: what is legal has a place, however large, and what is not ends the node that it
// came to, with a line that names it. The test is the other node, and sends what no node would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "core/configuration.hpp"
#include "core/diffs.hpp"
#include "core/host.hpp"
#include "core/inbox.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/spread.hpp"
#include "engine/engine.hpp"
#include "transport/loopback/loopback.hpp"

namespace quire::core::payloads_test {
namespace {

using model::message;
using model::message_kind;
using model::node_id;
using model::region_id;

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB, base_address = 0x300000000000;
constexpr region_id pages{1}, large{2}, relaxed{3}, none{9};

/// A job that nobody watches.
class quiet_job final : public bootstrap::bootstrap {
 public:
  int node() const noexcept override { return 0; }
  int nodes() const noexcept override { return 2; }
  int local_nodes() const noexcept override { return 2; }
  base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte>) override {
    return QUIRE_INVALID;
  }
  bool accuse(int, std::uint64_t) noexcept override { return true; }
  void abort(int, const std::string&) noexcept override {}
  void leave(std::string_view) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  ::quire::bootstrap::news poll_news() noexcept override { return {}; }
};

/// Node 0, with regions of units of a page and of 2 MiB, and the bare transport of node 1.
class border {
 public:
  border() {
    auto own = transport::loopback::open(hub_, node_id{0});
    const std::vector<std::byte> addresses[] = {bytes_of(own->address()), bytes_of(other_->address())};
    const std::span<const std::byte> all[] = {addresses[0], addresses[1]};
    configuration c;
    c.nodes = 2;
    c.base = base_address;
    c.bytes = 256 * MiB;
    c.detector = detect::kind::segv;
    transport::transport& wire = *own;
    node_ = std::make_unique<engine::engine>(c, drive::pace{}, std::move(own), job_);
    EXPECT_TRUE(node_->open().ok());
    add(pages, 4 * KiB, QUIRE_SEQUENTIAL, 0);
    add(large, 2 * MiB, QUIRE_RELEASE, 64 * MiB);
    add(relaxed, 4 * KiB, QUIRE_RELEASE, 128 * MiB);
    EXPECT_TRUE(wire.connect(node_id{0}, all, node_->node().in).ok());
    EXPECT_TRUE(other_->connect(node_id{1}, all, nowhere_).ok());
    node_->start();
  }
  void send(message m, std::size_t bytes) {
    m.from = m.requester = node_id{1};
    m.payload_bytes = static_cast<std::uint32_t>(bytes);
    other_->send(node_id{0}, m, std::vector<std::byte>(bytes));
  }
  region_slot& slot(region_id r) { return *node_->node().regions.slot(r); }
  bool comes_true(const std::function<bool()>& what) {
    const std::uint64_t end = base::now_ns() + 10'000'000'000;
    while (!what()) {
      if (base::now_ns() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

 private:
  struct nobody final : transport::sink {
    transport::landing place(const message&) noexcept override { return transport::landing::too_late(); }
    void deliver(const message&) noexcept override {}
    void peer_lost(node_id) noexcept override {}
  };
  static std::vector<std::byte> bytes_of(std::span<const std::byte> s) { return {s.begin(), s.end()}; }
  void add(region_id id, std::uint32_t unit, quire_consistency consistency, std::uint64_t offset) {
    region_description about;
    about.id = id.value();
    about.unit_bytes = unit;
    about.base = base_address + offset;
    about.bytes = 32 * MiB;
    about.placement = QUIRE_PLACE_MODULO;
    about.consistency = static_cast<std::uint8_t>(consistency);
    EXPECT_TRUE(node_->node().builder.add(about).ok());
  }

  quiet_job job_{};
  std::shared_ptr<transport::loopback::hub> hub_ = std::make_shared<transport::loopback::hub>(2);
  std::unique_ptr<transport::transport> other_ = transport::loopback::open(hub_, node_id{1});
  nobody nowhere_{};
  std::unique_ptr<engine::engine> node_{};
};

message make(message_kind kind, region_id region, std::uint64_t unit, std::uint32_t count = 1) {
  message m;
  m.kind = kind;
  m.region = region;
  m.unit = unit;
  m.count = count;
  return m;
}

TEST(payloads, content_that_nobody_waits_for_any_more_is_dropped_and_counted) {
  border b;
  b.send(make(message_kind::copy_reply, relaxed, 3, 4), 16 * KiB);
  EXPECT_TRUE(b.comes_true([&] { return b.slot(relaxed).change.received == 4; }));
  b.send(make(message_kind::copy_reply, large, 1), 2 * MiB);
  EXPECT_TRUE(b.comes_true([&] { return b.slot(large).change.received == 1; }));
}

TEST(payloads, an_offer_of_any_unit_size_is_taken) {
  border b;
  b.send(make(message_kind::update, relaxed, 1), 4 * KiB);
  b.send(make(message_kind::update, relaxed, 2, 40), 160 * KiB);
  EXPECT_TRUE(b.comes_true([&] { return b.slot(relaxed).change.received == 41; }));
  b.send(make(message_kind::update, large, 3), 2 * MiB);
  EXPECT_TRUE(b.comes_true([&] { return b.slot(large).change.received == 1; }));
}

struct bad_payload {
  const char* name;
  message_kind kind;
  region_id region;
  std::uint64_t unit;
  std::uint32_t count;
  std::size_t bytes;
};
std::ostream& operator<<(std::ostream& out, const bad_payload& b) { return out << b.name; }

class illegal : public testing::TestWithParam<bad_payload> {};

TEST_P(illegal, ends_the_node_and_names_the_message) {
  const bad_payload bad = GetParam();
  EXPECT_EXIT(
      {
        border b;
        b.send(make(bad.kind, bad.region, bad.unit, bad.count), bad.bytes);
        std::this_thread::sleep_for(std::chrono::seconds(20));
        ::_exit(0);  // it was dropped without a word
      },
      testing::ExitedWithCode(QUIRE_SYSTEM),
      "node 1 sent a message that this node cannot take.*kind " + std::to_string(static_cast<int>(bad.kind)));
}

constexpr auto sync_value = static_cast<message_kind>(static_cast<int>(message_kind::sync_first) + 1);
constexpr bad_payload cases[] = {
    {"update_of_no_region", message_kind::update, none, 0, 1, 4 * KiB},
    {"update_of_no_unit", message_kind::update, large, 16, 1, 2 * MiB},
    {"update_beyond_the_end", message_kind::update, relaxed, 8191, 2, 8 * KiB},
    {"update_of_another_size", message_kind::update, large, 0, 1, 128 * KiB},
    {"update_without_content", message_kind::update, relaxed, 0, 1, 0},
    {"content_of_no_region", message_kind::read_reply, none, 0, 1, 4 * KiB},
    {"content_of_another_size", message_kind::copy_reply, large, 0, 1, 4 * KiB},
    {"content_of_no_unit", message_kind::read_reply, pages, 1u << 20, 1, 4 * KiB},
    {"diffs_that_are_too_many", message_kind::diffs, relaxed, 0, 1, diff_traffic::message_bytes + 8},
    {"diffs_that_are_none", message_kind::diffs, relaxed, 0, 1, 24},
    {"diffs_of_a_sequential_region", message_kind::diffs, pages, 0, 1, 24},
    {"diffs_without_content", message_kind::diffs, relaxed, 0, 1, 0},
    {"a_spread_that_is_too_short", message_kind::spread, relaxed, 0, 1, 8},
    {"a_spread_without_content", message_kind::spread, relaxed, 0, 1, 0},
    {"a_spread_that_is_too_long", message_kind::spread, relaxed, 0, 1, spread_traffic::message_bytes + 64 * KiB},
    {"a_replica_where_there_are_none", message_kind::replica, pages, 0, 1, 4 * KiB},
    {"notices_that_are_none", message_kind::notices, relaxed, 0, 1, 100},
    {"notices_that_are_too_long", message_kind::notices, relaxed, 0, 1, 513},
    {"a_value_that_is_too_long", sync_value, pages, 0, 1, 4 * KiB},
    {"a_request_with_a_payload", message_kind::read_request, pages, 0, 1, 100},
    {"a_request_for_no_unit", message_kind::read_request, pages, 1u << 20, 1, 0},
    {"a_request_for_no_region", message_kind::copy_request, none, 0, 1, 0},
};
INSTANTIATE_TEST_SUITE_P(all, illegal, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace quire::core::payloads_test
