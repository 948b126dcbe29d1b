// SPDX-License-Identifier: BSD-3-Clause
// Links of containers, whose linker is a toy: what they give it, where its content ends, and what hangs; and the table
// of linkers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "container/link.hpp"
#include "container/linker_table.hpp"
#include "container/linkers.hpp"

namespace quire::container::container_link_test {
namespace {

/// A linker that keeps bytes as a file does: as long as what was written.
struct toy {
  std::vector<std::byte> all{};
  int error = 0;
  unsigned fills = 0;
  static toy& of(void* self) { return *static_cast<toy*>(self); }
  quire_linker linker() {
    quire_linker l{};
    l.size = sizeof l;
    l.name = "toy";
    l.can = QUIRE_LINK_WRITE;
    l.context = this;
    l.open = [](void* context, const char*, unsigned, std::uint64_t* bytes, void** self) {
      *bytes = of(context).all.size();
      *self = context;
      return of(context).error;
    };
    l.fill = [](void* self, std::uint64_t at, void* into, std::size_t bytes) {
      auto& t = of(self);
      ++t.fills;
      std::memset(into, 0, bytes);
      if (at < t.all.size()) std::memcpy(into, t.all.data() + at, std::min(bytes, t.all.size() - at));
      return t.error;
    };
    l.flush = [](void* self, std::uint64_t at, const void* from, std::size_t bytes) {
      auto& t = of(self);
      if (t.error != 0) return t.error;
      t.all.resize(std::max(t.all.size(), at + bytes));
      std::memcpy(t.all.data() + at, from, bytes);
      return 0;
    };
    return l;
  }
};
std::shared_ptr<link> open(toy& t, const quire_linker& l, const part& which = {}) {
  std::uint64_t bytes = 0;
  int error = 0;
  auto made = link::open(l, {"toy", "somewhere"}, 0, bytes, error);
  EXPECT_EQ(error, 0);
  made->begin(which, t.all.size());
  return made;
}
std::vector<std::byte> unit_with(std::initializer_list<std::size_t> places) {
  std::vector<std::byte> u(4096);
  for (const std::size_t p : places) u[p] = std::byte{7};
  return u;
}

TEST(container_link, no_zeroes_are_written_behind_the_content) {
  toy t;
  const auto l = open(t, t.linker());
  EXPECT_EQ(l->flush(0, unit_with({0, 99})), 0);
  EXPECT_EQ(t.all.size(), 100u);
  EXPECT_EQ(l->flush(4096, unit_with({})), 0);
  EXPECT_EQ(t.all.size(), 100u);
  // What was written there once is written again, though it is zero now.
  EXPECT_EQ(l->flush(0, unit_with({0})), 0);
  EXPECT_EQ(t.all.size(), 100u);
  EXPECT_EQ(t.all[99], std::byte{0});
  // The end is told, and a sync has it so.
  l->note_end(5000);
  EXPECT_EQ(l->sync(), 0);
  EXPECT_EQ(t.all.size(), 5000u);
  l->note_end(10);  // an older one says nothing
  EXPECT_EQ(l->sync(), 0);
  EXPECT_EQ(t.all.size(), 5000u);
}

TEST(container_link, the_node_of_the_last_byte_sees_to_the_length) {
  toy t;
  const auto l = open(t, t.linker(), {4096, 2, 0});
  l->note_end(4097);
  EXPECT_EQ(l->sync(), 0);
  EXPECT_EQ(t.all.size(), 0u);  // byte 4096 is the other node's
  l->note_end(8193);
  EXPECT_EQ(l->sync(), 0);
  EXPECT_EQ(t.all.size(), 8193u);
}

TEST(container_link, after_a_cut_the_content_grows_anew) {
  toy t;
  const auto l = open(t, t.linker());
  EXPECT_EQ(l->flush(0, unit_with({4095})), 0);
  l->set_end(10);
  t.all.resize(10);
  EXPECT_EQ(l->flush(0, unit_with({3})), 0);
  EXPECT_EQ(t.all.size(), 10u);
  l->note_end(20);
  EXPECT_EQ(l->sync(), 0);
  EXPECT_EQ(t.all.size(), 20u);
}

TEST(container_link, behind_the_end_nothing_is_asked_for) {
  toy t;
  t.all.assign(4100, std::byte{1});
  const auto l = open(t, t.linker());
  std::vector<std::byte> into(8192, std::byte{9});
  EXPECT_EQ(l->fill(4096, into), 0);
  EXPECT_EQ(into[3], std::byte{1});
  EXPECT_EQ(into[4], std::byte{0});
  EXPECT_EQ(t.fills, 1u);
  EXPECT_EQ(l->fill(8192, into), 0);
  EXPECT_EQ(t.fills, 1u);
  EXPECT_EQ(l->try_fill(8192, into), 0);
  EXPECT_EQ(l->try_fill(0, into), EAGAIN);  // it has no try_fill()
}

TEST(container_link, nonsense_and_exceptions_are_errors_of_io) {
  toy t;
  quire_linker l = t.linker();
  l.sync = [](void*) -> int { throw 5; };
  const auto made = open(t, l);
  t.error = -3;
  EXPECT_EQ(made->flush(0, unit_with({1})), EIO);
  t.error = ENOSPC;
  EXPECT_EQ(made->flush(0, unit_with({1})), ENOSPC);
  EXPECT_EQ(made->sync(), EIO);
  l.can = 0;
  const auto reads = open(t = {}, l);
  EXPECT_EQ(reads->flush(0, unit_with({1})), EROFS);
}

/// A linker whose functions stay until they are let go.
struct stuck : toy {
  std::atomic<bool> stays{false};
  std::atomic<unsigned> inside{0}, most{0}, closed{0}, flushes{0};
  std::atomic<std::uint64_t> flushed_end{0};
  static stuck& me(void* self) { return static_cast<stuck&>(of(self)); }
  void pass() {
    const unsigned now = ++inside;
    for (unsigned before = most; before < now && !most.compare_exchange_weak(before, now);) continue;
    while (stays) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --inside;
  }
  void wait_inside(unsigned count) const {
    while (inside < count) std::this_thread::yield();
  }
  void let_go() {
    stays = false;
    while (inside != 0) std::this_thread::yield();
  }
  quire_linker linker() {
    quire_linker l = toy::linker();
    l.name = "stuck";
    l.context = static_cast<toy*>(this);
    l.open = [](void* context, const char*, unsigned, std::uint64_t* bytes, void** self) {
      *bytes = of(context).all.size();
      *self = context;
      return 0;
    };
    l.fill = [](void* self, std::uint64_t, void* into, std::size_t bytes) {
      me(self).pass();
      std::memset(into, 9, bytes);
      return 0;
    };
    l.flush = [](void* self, std::uint64_t at, const void* from, std::size_t bytes) {
      ++me(self).flushes;
      (void)from;
      me(self).pass();
      me(self).flushed_end = at + bytes;
      return 0;
    };
    l.close = [](void* self) { ++me(self).closed; };
    return l;
  }
};
/// Calls are given up after so long, while it lives.
struct short_patience {
  explicit short_patience(std::uint64_t ns) { set_call_limit(ns); }
  ~short_patience() { set_call_limit(60'000'000'000); }
};

TEST(container_link, that_hangs_is_given_up_until_it_comes_back) {
  stuck s;
  s.all.assign(8192, std::byte{1});
  const auto l = open(s, s.linker());
  std::vector<std::byte> into(4096, std::byte{5});
  s.stays = true;
  {
    const short_patience soon(30'000'000);
    EXPECT_EQ(l->fill(0, into), ETIMEDOUT);
    EXPECT_EQ(into[0], std::byte{5});
    EXPECT_EQ(l->flush(0, into), ETIMEDOUT);  // at once
    EXPECT_EQ(s.flushes, 0u);
  }
  s.let_go();
  for (int error = ETIMEDOUT; error != 0;) {  // its thread tells
    error = l->flush(0, unit_with({1}));
    EXPECT_TRUE(error == 0 || error == ETIMEDOUT);
  }
  EXPECT_EQ(into[0], std::byte{5}) << "what came late is nobody's";
  EXPECT_EQ(l->fill(0, into), 0);
  EXPECT_EQ(into[0], std::byte{9});
  EXPECT_EQ(s.closed, 0u);
  l->close();
  EXPECT_EQ(s.closed, 1u);
  EXPECT_EQ(l->fill(0, into), EBADF);
}

TEST(container_link, that_hangs_is_closed_by_its_own_thread) {
  stuck s;
  s.all.assign(8192, std::byte{1});
  auto l = open(s, s.linker());
  std::vector<std::byte> into(4096);
  s.stays = true;
  {
    const short_patience soon(30'000'000);
    EXPECT_EQ(l->fill(0, into), ETIMEDOUT);
  }
  l->close();
  l = nullptr;
  EXPECT_EQ(s.closed, 0u) << "somebody is in it";
  s.let_go();
  while (s.closed == 0) std::this_thread::yield();
}

/// A flush that began before the cut is waited for, and one that begins later ends where the content does.
TEST(container_link, is_cut_when_nothing_of_what_goes_is_on_its_way) {
  stuck s;
  s.all.assign(3 * 4096, std::byte{1});
  const auto l = open(s, s.linker());
  s.stays = true;
  std::thread writes([&] { EXPECT_EQ(l->flush(8192, unit_with({4095})), 0); });
  s.wait_inside(1);
  std::atomic<bool> cut{false};
  std::thread cuts([&] {
    EXPECT_EQ(l->resize(4096 + 10), 0);
    cut = true;
  });
  std::vector<std::byte> into(4096, std::byte{5});
  while (l->try_fill(8192, into) != 0) std::this_thread::yield();  // from now on there is nothing beyond
  EXPECT_EQ(into[0], std::byte{0});
  EXPECT_FALSE(cut) << "what goes is being flushed";
  s.stays = false;
  cuts.join();
  writes.join();
  l->set_end(4096 + 10);
  s.flushed_end = 0;
  EXPECT_EQ(l->flush(8192, unit_with({1})), 0);
  EXPECT_EQ(s.flushed_end, 0u) << "beyond the end";
  EXPECT_EQ(l->flush(4096, unit_with({4000})), 0);
  EXPECT_EQ(s.flushed_end, 4096u + 10);
  EXPECT_EQ(l->resize(1u << 20), 0);
  EXPECT_EQ(l->flush(8192, unit_with({1})), 0);
  EXPECT_EQ(s.flushed_end, 8192u + 2);
}

TEST(container_throttle, keeps_to_the_threads_of_what_it_wraps) {
  stuck s;
  s.all.assign(64 * 4096, std::byte{1});
  linker_table all;
  quire_linker slow = s.linker();
  slow.threads = 2;
  ASSERT_TRUE(all.add("call", slow).ok());
  std::uint64_t bytes = 0;
  int error = 0;
  const auto l = link::open(*all.find("throttle"), {"c", "latency_us=1;stuck;x"}, 0, bytes, error);
  ASSERT_EQ(error, 0);
  l->begin({}, bytes);
  s.stays = true;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 8; ++i) {
    threads.emplace_back([&l, i] {
      std::vector<std::byte> into(4096);
      EXPECT_EQ(l->fill(i * 4096, into), 0);
    });
  }
  s.wait_inside(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time for more to come
  s.stays = false;
  for (auto& t : threads) t.join();
  EXPECT_EQ(s.most, 2u);
}

TEST(container_linkers, are_checked_and_copied) {
  linker_table all;
  EXPECT_NE(all.find("file"), nullptr);
  EXPECT_NE(all.find("throttle"), nullptr);
  toy t;
  quire_linker l = t.linker();
  std::string name = "mine";
  l.name = name.c_str();
  EXPECT_TRUE(all.add("call", l).ok());
  name = "away";
  EXPECT_NE(all.find("mine"), nullptr);
  EXPECT_EQ(all.find("away"), nullptr);
  l.name = "mine";
  EXPECT_EQ(all.add("call", l).code(), QUIRE_EXISTS);
  l.name = "memory";
  EXPECT_EQ(all.add("call", l).code(), QUIRE_EXISTS);
  l.name = "other";
  l.flush = nullptr;
  EXPECT_EQ(all.add("call", l).code(), QUIRE_INVALID);
  l.can = 0;
  l.grain = 4097;
  EXPECT_EQ(all.add("call", l).code(), QUIRE_INVALID);
  l.grain = 0;
  l.threads = 65;
  EXPECT_EQ(all.add("call", l).code(), QUIRE_INVALID);
  l.threads = 0;
  for (std::size_t i = 1; i < most_linkers; ++i) {
    name = std::to_string(i);
    l.name = name.c_str();
    EXPECT_TRUE(all.add("call", l).ok());
  }
  l.name = "one more";
  EXPECT_EQ(all.add("call", l).code(), QUIRE_LIMIT);
}

}  // namespace
}  // namespace quire::container::container_link_test
