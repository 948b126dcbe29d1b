// SPDX-License-Identifier: BSD-3-Clause
// The pure parts of containers: names, sizes, what a throttle is told; and links, whose linker is a toy: what they give
// it, and where its content ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/detail.hpp"
#include "container/link.hpp"
#include "container/linker_table.hpp"
#include "container/linkers.hpp"
#include "container/name_table.hpp"
#include "container/shape.hpp"

namespace quire::container::container_test {
namespace {

using outcome = name_table::outcome;

TEST(container_names, who_opens_first_makes_and_others_wait) {
  name_table all;
  const auto a = all.open("a", true, false, false);
  EXPECT_EQ(a.what, outcome::make);
  EXPECT_EQ(a.number, 1);
  EXPECT_EQ(all.open("a", true, false, false).what, outcome::wait);
  EXPECT_EQ(all.take_away("a").what, outcome::wait);
  EXPECT_EQ(all.open("b", true, false, true).what, outcome::wait);  // alone, and one is being made
  EXPECT_EQ(all.open("b", false, false, false).what, outcome::none);
  all.made(a.number);
  EXPECT_EQ(all.open("a", true, true, false).what, outcome::exists);
  EXPECT_EQ(all.open("a", false, false, false).number, 1);
  EXPECT_EQ(all.take_away("a").what, outcome::busy);
  EXPECT_FALSE(all.closed(1));
  EXPECT_EQ(all.take_away("a").what, outcome::busy);
  EXPECT_FALSE(all.closed(1));
  EXPECT_EQ(all.take_away("a").what, outcome::found);
  EXPECT_EQ(all.open("a", true, false, false).what, outcome::wait);
  all.stays(1);
  EXPECT_EQ(all.open("a", false, false, false).what, outcome::found);
  EXPECT_FALSE(all.closed(1));
  EXPECT_EQ(all.take_away("a").what, outcome::found);
  all.gone(1);
  EXPECT_EQ(all.take_away("a").what, outcome::none);
  EXPECT_EQ(all.count(), 0u);
}

TEST(container_names, one_that_could_not_be_made_leaves_its_number_to_the_next) {
  name_table all;
  const auto a = all.open("a", true, false, true);
  EXPECT_EQ(a.what, outcome::make);
  all.failed(a.number);
  EXPECT_EQ(all.open("a", false, false, false).what, outcome::none);
  const auto b = all.open("b", true, false, true);  // nobody is at it any more
  EXPECT_EQ(b.what, outcome::make);
  EXPECT_EQ(b.number, a.number);
  EXPECT_EQ(all.last(), 1);
}

TEST(container_names, there_are_so_many) {
  name_table all;
  for (unsigned i = 1; i <= most_containers; ++i) EXPECT_EQ(all.open(std::to_string(i), true, false, false).number, i);
  EXPECT_EQ(all.open("one more", true, false, false).what, outcome::full);
  all.made(77);
  EXPECT_FALSE(all.closed(77));
  EXPECT_EQ(all.take_away("77").number, 77);
  all.gone(77);
  EXPECT_EQ(all.open("one more", true, false, false).number, 77);
}

TEST(container_names, of_a_node_that_is_lost) {
  name_table all;
  const auto a = all.open("a", true, false, false, 1), b = all.open("b", true, false, false, 2),
             c = all.open("c", true, false, false, 0);
  for (const auto& made : {a, c}) all.made(made.number);
  EXPECT_EQ(all.open("a", false, false, false, 2).number, a.number);
  EXPECT_EQ(all.open("a", false, false, false, 2).number, a.number);
  EXPECT_EQ(all.open("b", false, false, false, 0).what, outcome::wait);
  all.lost(2);
  EXPECT_EQ(all.open("b", false, false, false, 0).what, outcome::none) << "nobody waits for who made it";
  EXPECT_FALSE(all.is_changing());
  const auto again = all.open("b", true, false, true, 0);
  EXPECT_EQ(again.what, outcome::make);
  EXPECT_NE(again.number, b.number) << "there may be something of it";
  all.failed(again.number);
  EXPECT_EQ(all.take_away("a", 0).what, outcome::busy);
  EXPECT_FALSE(all.closed(a.number, 1));
  EXPECT_EQ(all.take_away("a", 1).what, outcome::found) << "what node 2 had open is closed";
  all.lost(1);
  EXPECT_EQ(all.open("a", false, false, false, 0).what, outcome::none);
  EXPECT_FALSE(all.closed(c.number, 0));
  EXPECT_EQ(all.take_away("c", 0).what, outcome::found);
  all.gone(c.number);
  EXPECT_EQ(all.open("d", true, false, false, 0).number, c.number);
}

TEST(container_names, are_noted_for_when_node_0_is_lost) {
  name_table all;
  all.note("a", 3);
  all.note("b", 1);
  EXPECT_EQ(all.look_up("a").number, 3);
  EXPECT_EQ(all.look_up("b").what, outcome::found);
  EXPECT_EQ(all.look_up("c").what, outcome::none);
  EXPECT_EQ(all.last(), 3);
  all.unnote(3);
  all.unnote(2);
  all.unnote(9);
  EXPECT_EQ(all.look_up("a").what, outcome::none);
  all.note("c", 3);
  EXPECT_EQ(all.look_up("c").number, 3);
  all.note("c", 1);  // the one before has gone, and this node has not heard of it
  EXPECT_EQ(all.look_up("c").number, 1);
  all.unnote(3);
  EXPECT_EQ(all.look_up("c").number, 1);
}

/// A container of that name, which is not open.
std::uint16_t made(name_table& all, const char* name) {
  const std::uint16_t number = all.open(name, true, true, false).number;
  all.made(number);
  EXPECT_FALSE(all.closed(number));
  return number;
}

TEST(container_names, one_that_is_unlinked_goes_with_its_last_opening) {
  name_table all;
  const auto a = made(all, "a");
  EXPECT_EQ(all.open("a", false, false, false).number, a);
  EXPECT_EQ(all.unlink("a").number, a);
  EXPECT_TRUE(all.is_changing());
  EXPECT_EQ(all.look_up("a").what, outcome::none);
  EXPECT_EQ(all.open("a", false, false, false).what, outcome::none);
  const auto other = made(all, "a");
  EXPECT_NE(other, a);
  EXPECT_FALSE(all.closed(a)) << "who unlinks has not told the nodes yet";
  EXPECT_TRUE(all.settled(a));
  EXPECT_TRUE(all.is_changing());
  all.gone(a);
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.look_up("a").number, other);
  EXPECT_EQ(all.unlink("a").number, other);
  EXPECT_TRUE(all.settled(other)) << "nobody had it open";
  all.stays(other);
  EXPECT_EQ(all.look_up("a").what, outcome::none);
  EXPECT_EQ(all.unlink("a").what, outcome::none);
  EXPECT_EQ(made(all, "b"), a) << "the number is free";
  EXPECT_EQ(all.open("b", false, false, false).number, a);
  EXPECT_EQ(all.unlink("b").number, a);
  EXPECT_FALSE(all.settled(a));
  EXPECT_TRUE(all.goes_when_closed(a));
  EXPECT_TRUE(all.closed(a));
}

TEST(container_names, a_name_goes_over_to_another_at_once) {
  name_table all;
  const auto a = made(all, "a"), b = made(all, "b");
  EXPECT_EQ(all.rename("none", "b", false).what, outcome::none);
  EXPECT_EQ(all.rename("a", "b", true).what, outcome::exists);
  const auto same = all.rename("a", "a", false);
  EXPECT_EQ(same.what, outcome::found);
  EXPECT_EQ(same.number, 0);
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.open("b", false, false, false).number, b);
  const auto got = all.rename("a", "b", false);
  EXPECT_EQ(got.number, a);
  EXPECT_EQ(got.replaced, b);
  EXPECT_EQ(all.look_up("b").number, a);
  EXPECT_EQ(all.look_up("a").what, outcome::none);
  for (const char* const name : {"a", "b"}) {  // until all nodes can see it
    const auto expected = std::string_view(name) == "a" ? outcome::none : outcome::wait;
    EXPECT_EQ(all.open(name, false, false, false).what, expected);
    EXPECT_EQ(all.take_away(name).what, expected);
    EXPECT_EQ(all.unlink(name).what, expected);
    EXPECT_EQ(all.rename(name, "c", false).what, expected);
  }
  const auto c = made(all, "c");
  EXPECT_EQ(all.rename("c", "b", false).what, outcome::wait);
  EXPECT_FALSE(all.settled(a));
  EXPECT_FALSE(all.settled(b)) << "it is open";
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.rename("c", "b", false).replaced, a);
  EXPECT_FALSE(all.settled(c));
  EXPECT_TRUE(all.settled(a));
  EXPECT_TRUE(all.closed(b));
  all.gone(a);
  all.gone(b);
  EXPECT_EQ(all.count(), 1u);
}

TEST(container_names, those_of_a_checkpoint_keep_their_numbers) {
  name_table all;
  all.load("b", 2);
  all.load("e", 5);
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.last(), 5);
  EXPECT_EQ(all.count(), 2u);
  const auto e = all.open("e", false, false, false);
  EXPECT_EQ(e.what, outcome::found);
  EXPECT_EQ(e.number, 5);
  EXPECT_EQ(all.open("a", false, false, false).what, outcome::none);
  std::vector<std::uint16_t> numbers;
  for (const char* const name : {"v", "w", "x", "y"}) numbers.push_back(all.open(name, true, false, false).number);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, (std::vector<std::uint16_t>{1, 3, 4, 6}));
  EXPECT_TRUE(all.is_changing());
  for (const std::uint16_t number : numbers) all.made(number);
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.take_away("b").number, 2);
  EXPECT_TRUE(all.is_changing());
}

TEST(container_names, one_of_a_checkpoint_without_a_name_goes_when_it_is_closed) {
  name_table all;
  all.load("", 1);
  all.load("b", 2);
  EXPECT_EQ(all.count(), 1u);
  EXPECT_TRUE(all.closed(1));
  all.gone(1);
  EXPECT_EQ(made(all, "c"), 1);
}

quire_container_options how(unsigned flags = QUIRE_CONTAINER_CREATE) {
  quire_container_options o{};
  o.size = sizeof o;
  o.flags = flags;
  return o;
}

TEST(container_shape, capacity_follows_the_bytes) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  surroundings around{std::uint64_t{1} << 40, nullptr, UINT64_MAX};
  shape s;
  EXPECT_TRUE(shape_of(how(), around, s).ok());
  EXPECT_EQ(s.bytes, 0u);
  EXPECT_EQ(s.capacity, gib);
  auto o = how();
  o.bytes = gib + 1;
  EXPECT_TRUE(shape_of(o, around, s).ok());
  EXPECT_EQ(s.capacity, 2 * gib + 4096);
  o.bytes = 5;
  o.capacity = 6;
  EXPECT_TRUE(shape_of(o, around, s).ok());
  EXPECT_EQ(s.capacity, 4096u);
  const quire_linker file = file_linker();
  around.linker = &file;
  around.linked_bytes = 10'000;
  o = how(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY);
  o.bytes = 50'000;  // of what is read only means nothing
  EXPECT_TRUE(shape_of(o, around, s).ok());
  EXPECT_EQ(s.bytes, 10'000u);
  EXPECT_EQ(s.capacity, 12'288u);
  o.flags = QUIRE_CONTAINER_CREATE;
  EXPECT_TRUE(shape_of(o, around, s).ok());
  EXPECT_EQ(s.bytes, 50'000u);
}

TEST(container_shape, what_does_not_go_is_named) {
  const surroundings around{std::uint64_t{1} << 40, nullptr, UINT64_MAX};
  shape s;
  auto o = how();
  o.bytes = std::uint64_t{1} << 60;
  EXPECT_EQ(shape_of(o, around, s).code(), QUIRE_NO_ADDRESSES);
  o.bytes = UINT64_MAX;
  EXPECT_EQ(shape_of(o, around, s).code(), QUIRE_NO_ADDRESSES);
  o.bytes = 100;
  o.capacity = 99;
  EXPECT_EQ(shape_of(o, around, s).code(), QUIRE_INVALID);
  EXPECT_NE(std::strstr(base::detail(), "less than the content"), nullptr);
  quire_linker large = file_linker();
  large.grain = 65536;
  o = how();
  o.unit_bytes = 4096;
  std::uint64_t unit = 0;
  EXPECT_EQ(unit_of(o, &large, unit).code(), QUIRE_INVALID);
  o.unit_bytes = 0;
  EXPECT_TRUE(unit_of(o, &large, unit).ok());
  EXPECT_EQ(unit, 65536u);
}

TEST(container_throttle, reads_what_it_is_told) {
  throttling t;
  EXPECT_TRUE(read("mbps=100,latency_us=7,flush=3,times=2,error=ENOSPC;file;/a;b", t));
  EXPECT_DOUBLE_EQ(t.bytes_per_ns, 0.1);
  EXPECT_EQ(t.latency_ns, 7000u);
  EXPECT_EQ(t.flush, 3u);
  EXPECT_EQ(t.times, 2u);
  EXPECT_EQ(t.error, ENOSPC);
  EXPECT_EQ(t.linker, "file");
  EXPECT_EQ(t.what, "/a;b");
  for (const char* const bad : {"", "mbps=1", "mbps=1;file", "mbps;file;x", "mbps=0;file;x", "fill=-1;file;x",
                                "error=no;file;x", "x=1;file;y"}) {
    throttling none;
    EXPECT_FALSE(read(bad, none)) << bad;
  }
}

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
}  // namespace quire::container::container_test
