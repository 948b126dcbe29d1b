// SPDX-License-Identifier: BSD-3-Clause
// Rings in shared memory (src/transport/rings): what is particular to them. The contract of all transports is in
// transport_test.cpp.
#include <numeric>
#include <random>
#include <thread>

#include "transport/rings/ring.hpp"
#include "transport_nodes.hpp"

namespace quire::transport::test::transport_rings_test {
namespace {

using rings::ring_page_bytes;
using rings::to_words;

struct ring_of : testing::TestWithParam<std::size_t> {
  alignas(64) std::byte memory[ring_page_bytes + 4096] = {};
  rings::ring_writer writer;
  rings::ring_reader reader;
  void SetUp() override {
    writer.open(memory, GetParam());
    reader.open(memory, GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(sizes, ring_of, testing::Values(64, 104, 4096));

TEST_P(ring_of, bytes_in_their_order_across_the_end) {
  std::mt19937 draw(1);
  unsigned char next = 0;
  for (int i = 0; i < 10'000; ++i) {
    blob put(draw() % GetParam() + 1), got(put.size());
    for (std::byte& b : put) b = static_cast<std::byte>(next++);
    ASSERT_EQ(writer.room(), GetParam());
    writer.put(put.data(), put.size());
    ASSERT_FALSE(reader.has_news());
    writer.publish();
    ASSERT_TRUE(reader.has_news());
    ASSERT_EQ(reader.look(), to_words(put.size()));
    ASSERT_FALSE(reader.has_news());
    reader.copy(got.data(), got.size(), 0);
    ASSERT_EQ(got, put);
    reader.take(put.size());
  }
}

/// It is dead: nothing of what it had put is there.
TEST_P(ring_of, what_a_writer_has_not_published_is_not_there) {
  const std::uint64_t word = 7;
  writer.put(&word, sizeof word);
  EXPECT_EQ(reader.look(), 0u);
  EXPECT_FALSE(reader.has_news());
}

TEST_P(ring_of, a_writer_without_room_is_told_when_there_is_some) {
  const blob all(GetParam());
  writer.put(all.data(), all.size());
  writer.publish();
  EXPECT_EQ(writer.room(), 0u);
  EXPECT_FALSE(reader.writer_waits());
  EXPECT_FALSE(writer.wait_for_room(8));
  (void)reader.look();
  reader.take(16);
  EXPECT_TRUE(reader.writer_waits());
  EXPECT_FALSE(reader.writer_waits());
  EXPECT_TRUE(writer.wait_for_room(16));
  EXPECT_FALSE(writer.wait_for_room(24));
}

TEST_P(ring_of, who_has_not_heard_all_looks_again) {
  const blob all(16);
  writer.put(all.data(), all.size());
  writer.publish();
  (void)reader.look();
  reader.take(8);
  reader.look_again();
  EXPECT_TRUE(reader.has_news());
  (void)reader.look();
  reader.take(8);
  reader.look_again();
  EXPECT_FALSE(reader.has_news());
}

/// Of a node that writes to all and is killed, the others hear whole messages, in their order, up to one; and each
/// other as before.
TEST(transport_rings, a_node_killed_at_any_moment_stops_nobody_else) {
  static constexpr std::size_t sizes[] = {0, 24, 600, 4096, 70'000, 700'000};
  for (unsigned round = 0; round < 40; ++round) {
    job("rings", 3)
        .run(
            [round](node& n) {
              const blob content = [] {
                blob all(sizes[5]);
                for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i * 31 + (i >> 8));
                return all;
              }();
              n.meet({}, true);
              if (n.self.value() == 2) {
                std::thread killer([round] {
                  std::this_thread::sleep_for(std::chrono::microseconds(500 + round * 97));
                  ::kill(::getpid(), SIGKILL);
                });
                for (unsigned i = 0;; ++i) {
                  for (unsigned to : {0, 1}) n.send(to, i, std::span(content).first(sizes[(i * 7 + round) % 6]));
                  while (n.link->sends_pending()) n.link->progress();
                }
              }
              blob place(sizes[5]);
              std::uint64_t from_dead = 0, from_other = 0;
              n.in.on_place = [&](const message&) -> void* { return place.data(); };
              n.in.on_message = [&](const message& m) {
                if (m.from.value() != 2) return static_cast<void>(++from_other);
                ASSERT_EQ(m.token, from_dead);
                ASSERT_EQ(m.payload_bytes, sizes[(from_dead * 7 + round) % 6]);
                ASSERT_EQ(std::memcmp(place.data(), content.data(), m.payload_bytes), 0);
                ++from_dead;
              };
              // Longer than the victim lives, and then without it.
              for (const auto until = base::now_ns() + 30'000'000; base::now_ns() < until;) (void)n.link->progress();
              n.link->abandon(node_id{2});
              const std::uint64_t heard = from_dead;
              for (unsigned i = 0; i < 200; ++i) n.send(n.other().value(), i, std::span(content).first(sizes[i % 6]));
              EXPECT_TRUE(n.progress_until([&] { return from_other == 200 && !n.link->sends_pending(); }));
              EXPECT_EQ(from_dead, heard);
              n.meet();
            },
            2);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace quire::transport::test::transport_rings_test
