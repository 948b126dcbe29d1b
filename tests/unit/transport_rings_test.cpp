// SPDX-License-Identifier: BSD-3-Clause
// Rings in shared memory (src/transport/rings): what is particular to them. The contract of all transports is in
// transport_test.cpp.
#include <fcntl.h>
#include <sys/stat.h>

#include <numeric>
#include <random>
#include <thread>

#include "transport/rings/ring.hpp"
#include "transport_nodes.hpp"

namespace quire::transport::test::transport_rings_test {
namespace {

using rings::ring_size;

constexpr rings::record_line line_of(std::uint64_t n) {
  rings::record_line line{n << 48 | 0x5a, {}};
  line.rest[0] = static_cast<std::byte>(n);
  line.rest[sizeof line.rest - 1] = static_cast<std::byte>(~n);
  return line;
}
blob bytes_of(std::size_t bytes, unsigned seed) {
  blob made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 31 + seed);
  return made;
}

struct ring_of : testing::TestWithParam<ring_size> {
  alignas(64) std::byte memory[ring_size{64, 4096}.all()] = {};
  rings::ring_writer writer;
  rings::ring_reader reader;
  void SetUp() override {
    writer.open(memory, GetParam());
    reader.open(memory, GetParam());
  }
  void expect_next(std::uint64_t n, const blob& payload) {
    ASSERT_TRUE(reader.has_news());
    const rings::record_line line = reader.read_line();
    blob got(payload.size());
    reader.copy(got.data(), got.size());
    EXPECT_EQ(line.word & ~rings::lap_mask, line_of(n).word);
    EXPECT_EQ(std::memcmp(line.rest, line_of(n).rest, sizeof line.rest), 0);
    EXPECT_EQ(got, payload);
  }
};
INSTANTIATE_TEST_SUITE_P(
    sizes, ring_of, testing::Values(ring_size{4, 256}, ring_size{4, 4096}, ring_size{64, 256}, ring_size{64, 4096}),
    [](const auto& chosen) { return std::to_string(chosen.param.lines) + "_" + std::to_string(chosen.param.bytes); });

TEST_P(ring_of, records_in_their_order_across_the_end) {
  std::mt19937 draw(1);
  for (unsigned i = 0; i < 10'000; ++i) {
    const blob payload = bytes_of(draw() % (writer.most_bytes() + 1), i);
    ASSERT_FALSE(reader.has_news());
    ASSERT_TRUE(writer.has_room(payload.size()));
    writer.put(line_of(i), payload.data(), payload.size());
    ASSERT_NO_FATAL_FAILURE(expect_next(i, payload));
    (void)reader.take(payload.size());
  }
}

/// As many as there is room for, then some are taken: neither side overtakes the other, and what is left is the same.
TEST_P(ring_of, holds_what_it_has_room_for_and_no_more) {
  std::mt19937 draw(2);
  std::vector<blob> there;
  unsigned put = 0, taken = 0;
  while (taken < 20'000) {
    blob next = bytes_of(draw() % 4 == 0 ? draw() % (writer.most_bytes() + 1) : 0, put);
    if (writer.has_room(next.size())) {
      writer.put(line_of(put++), next.data(), next.size());
      there.push_back(std::move(next));
      ASSERT_LE(there.size(), GetParam().lines);
      continue;
    }
    ASSERT_FALSE(there.empty());
    for (auto some = 1 + draw() % there.size(); some != 0; --some) {
      ASSERT_NO_FATAL_FAILURE(expect_next(taken++, there.front()));
      (void)reader.take(there.front().size());
      there.erase(there.begin());
    }
    ASSERT_EQ(reader.has_news(), !there.empty());
  }
}

/// It is dead: nothing of what it had put is there. And what lies in the bytes is never taken for a line.
TEST_P(ring_of, what_a_writer_has_not_published_is_not_there) {
  const blob all_ones(GetParam().bytes, std::byte{0xff});
  std::memcpy(memory + sizeof(rings::ring_page) + GetParam().lines * 64, all_ones.data(), all_ones.size());
  EXPECT_FALSE(reader.has_news());
  for (std::size_t i = 0; i < GetParam().lines; ++i)
    std::memset(memory + sizeof(rings::ring_page) + i * 64 + 8, 0xff, 56);  // lines but for their words
  EXPECT_FALSE(reader.has_news());
  for (std::size_t i = 0; i < 3 * GetParam().lines; ++i) {
    writer.put(line_of(i), nullptr, 0);
    ASSERT_NO_FATAL_FAILURE(expect_next(i, {}));
    (void)reader.take(0);
    ASSERT_FALSE(reader.has_news()) << "what the lap before has left is new again: " << i;
  }
}

/// However little it takes at a time, and whatever the writer has no room for.
TEST_P(ring_of, a_writer_without_room_is_told_when_there_is_some) {
  for (const std::size_t each : {std::size_t{0}, std::size_t{64}, writer.most_bytes()}) {
    for (int round = 0; round < 50; ++round) {
      std::size_t there = 0;
      while (writer.has_room(each)) writer.put(line_of(1), bytes_of(each, 1).data(), each), ++there;
      ASSERT_FALSE(writer.wait_for_room(each));
      unsigned told = 0;
      for (; there != 0 && told == 0; --there) told += reader.take(each) ? 1 : 0;
      ASSERT_EQ(told, 1u) << each << ": all was taken, and nobody was told";
      ASSERT_TRUE(writer.has_room(each));
      for (; there != 0; --there) ASSERT_FALSE(reader.take(each)) << "told again, and it does not wait";
      ASSERT_FALSE(reader.has_news());
    }
  }
}

/// What a reader says that has lost its mind is not believed.
TEST_P(ring_of, room_is_never_more_than_there_is) {
  auto* const page = new (memory) rings::ring_page;
  while (writer.has_room(0)) writer.put(line_of(1), nullptr, 0);
  page->lines_taken = GetParam().lines + 1;
  EXPECT_FALSE(writer.has_room(0));
  page->lines_taken = GetParam().lines;
  EXPECT_TRUE(writer.has_room(0));
  page->bytes_taken = 64;  // of which there were none
  EXPECT_TRUE(writer.has_room(GetParam().bytes / 2));
  page->bytes_taken = 0;
  writer.put(line_of(1), bytes_of(GetParam().bytes / 2, 1).data(), GetParam().bytes / 2);
  writer.put(line_of(1), bytes_of(GetParam().bytes / 2, 1).data(), GetParam().bytes / 2);
  EXPECT_FALSE(writer.has_room(64));
}

TEST(transport_rings, a_message_that_none_sends_is_refused_and_its_sender_lost) {
  job("shm", 2).run([](node& n) {
    if (n.self.value() == 0) {
      message m;  // of no kind
      m.from = n.self;
      n.link->send(n.other(), m, {});
      n.send(1, 7);
    } else {
      EXPECT_TRUE(n.progress_until([&] { return !n.in.lost.empty(); }));
      EXPECT_EQ(n.in.lost, std::vector{node_id{0}});
      EXPECT_EQ(n.link->counters().refused, 1u);
      for (int i = 0; i < 100; ++i) n.link->progress();
      EXPECT_EQ(n.in.delivered, 0u);
      EXPECT_EQ(n.in.lost.size(), 1u);
    }
    n.meet({}, true);
  });
}

/// Each node has room for all, and memory for those that it hears.
TEST(transport_rings, of_many_nodes_are_small) {
  static constexpr unsigned nodes = 70;
  job("shm", nodes).run([](node& n) {
    const blob page = bytes_of(20'000, n.self.value());
    const unsigned next = (n.self.value() + 1) % nodes, before = (n.self.value() + nodes - 1) % nodes;
    n.send(next, 1, page);
    EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 1 && !n.link->sends_pending(); }));
    EXPECT_EQ(n.in.buffer, bytes_of(20'000, before));
    n.meet();
    struct stat about {};
    for (int fd = 3; fd < 256; ++fd) {
      char name[64], to[64] = {};
      std::snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
      if (::readlink(name, to, sizeof to - 1) <= 0 || std::strstr(to, "quire-rings") == nullptr) continue;
      ASSERT_EQ(::fstat(fd, &about), 0);
    }
    EXPECT_LT(about.st_size, 2 << 20);
    EXPECT_GT(about.st_blocks, 0);
    EXPECT_LT(about.st_blocks * 512, std::int64_t{nodes + 10} << 12);  // where each writes first
  });
}

/// Of a node that writes to all and is killed, the others hear whole messages, in their order, up to one; and each
/// other as before.
TEST(transport_rings, a_node_killed_at_any_moment_stops_nobody_else) {
  static constexpr std::size_t sizes[] = {0, 24, 600, 4096, 70'000, 700'000};
  for (unsigned round = 0; round < 40; ++round) {
    job("outliving", 3)
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
              std::uint64_t from_dead = 0, from_other = 0, places = 0, payloads = 0;
              n.in.on_place = [&](const message& m) -> void* {
                places += m.from.value() == 2 ? 1 : 0;
                return place.data();
              };
              n.in.on_message = [&](const message& m) {
                if (m.from.value() != 2) return static_cast<void>(++from_other);
                ASSERT_EQ(m.token, from_dead);
                ASSERT_EQ(m.payload_bytes, sizes[(from_dead * 7 + round) % 6]);
                ASSERT_EQ(std::memcmp(place.data(), content.data(), m.payload_bytes), 0);
                ++from_dead;
                payloads += m.payload_bytes != 0 ? 1 : 0;
              };
              // Longer than the victim lives, and then without it.
              for (const auto until = base::now_ns() + 30'000'000; base::now_ns() < until;) (void)n.link->progress();
              n.link->abandon(node_id{2});
              const std::uint64_t heard = from_dead;
              EXPECT_EQ(places, payloads) << "a payload has begun to land, and will never be there";
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
