// SPDX-License-Identifier: BSD-3-Clause
// The threads that read and write for stores: all that is begun is done and given back once, whoever waits is woken,
// and threads of the program come first.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "os/futex.hpp"
#include "store/crew.hpp"

namespace quire::store::crew_test {
namespace {

/// Counts, and writes down in which order; while it is closed whoever comes waits.
class slow_store : public store {
 public:
  int fill(std::uint64_t at, std::span<std::byte>) noexcept override { return pass(at); }
  int flush(std::uint64_t at, std::span<const std::byte>) noexcept override { return pass(at); }
  const char* name() const noexcept override { return "slow"; }
  const char* where() const noexcept override { return "a test"; }

  void close() noexcept { closed_ = 1; }
  void open() noexcept {
    closed_ = 0;
    os::futex_wake(closed_, 100);
  }
  std::atomic<unsigned> inside{0}, done{0};
  std::array<std::atomic<std::uint64_t>, 64> order{};

 private:
  int pass(std::uint64_t at) noexcept {
    ++inside;
    while (closed_ != 0) os::futex_wait(closed_, 1, -1);
    order[done++ % order.size()] = at;
    return at == 666 ? EIO : 0;
  }
  std::atomic<std::uint32_t> closed_{0};
};

struct told {
  std::atomic<std::uint32_t> times{0};
  static void tell(void* me) noexcept {
    auto& t = *static_cast<told*>(me);
    ++t.times;
    os::futex_wake(t.times, 10);
  }
};

class crews : public testing::Test {
 protected:
  io& begin(io::kind what, std::uint64_t at) {
    io& o = *all_.emplace_back(std::make_unique<io>());
    o.what = what;
    o.of = &slow_;
    o.at = at;
    crew_.begin(o);
    return o;
  }
  /// Takes what is done until it is so many, sleeping between as a driver does.
  std::vector<io*> take(std::size_t count) {
    std::vector<io*> taken;
    while (taken.size() < count) {
      const std::uint32_t times = told_.times;
      io* o = crew_.take_done();
      if (o == nullptr) os::futex_wait(told_.times, times, 1'000'000'000);
      for (; o != nullptr; o = o->next) taken.push_back(o);
    }
    return taken;
  }
  void wait_inside(unsigned count) {
    while (slow_.inside < count) std::this_thread::yield();
  }
  slow_store slow_;
  told told_;
  std::vector<std::unique_ptr<io>> all_;
  crew_of_threads crew_{told::tell, &told_};
};

TEST_F(crews, give_back_all_that_was_begun_once) {
  crew_.start(3);
  constexpr unsigned rounds = 200, each = 10;
  for (unsigned i = 0; i < rounds; ++i) {
    for (unsigned k = 0; k < each; ++k) begin(k % 2 == 0 ? io::kind::fill : io::kind::flush, i * each + k);
    std::set<io*> found;
    for (io* const o : take(each)) EXPECT_TRUE(found.insert(o).second);
    EXPECT_EQ(crew_.take_done(), nullptr);
  }
  EXPECT_EQ(slow_.done, rounds * each);
  EXPECT_LE(told_.times, rounds * each);
}

TEST_F(crews, tell_errors) {
  crew_.start(1);
  begin(io::kind::flush, 666);
  begin(io::kind::flush, 1);
  for (const io* const o : take(2)) EXPECT_EQ(o->error, o->at == 666 ? EIO : 0);
}

TEST_F(crews, take_fills_first) {
  slow_.close();
  crew_.start(1);
  begin(io::kind::flush, 1);
  wait_inside(1);  // nobody is left for the others
  for (const std::uint64_t at : {2, 3}) begin(io::kind::flush, at);
  for (const std::uint64_t at : {4, 5}) begin(io::kind::fill, at);
  slow_.open();
  (void)take(5);
  const std::uint64_t expected[] = {1, 4, 5, 2, 3};
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(slow_.order[i], expected[i]) << i;
}

TEST_F(crews, are_waited_for) {
  slow_.close();
  crew_.start(2);
  io& o = begin(io::kind::fill, 1);
  wait_inside(1);
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    slow_.open();
  });
  crew_.finish(o);
  EXPECT_EQ(slow_.done, 1u);
  opens.join();
  EXPECT_EQ(take(1).front(), &o);
  crew_.finish(begin(io::kind::flush, 2));  // perhaps it is done already
  EXPECT_EQ(slow_.done, 2u);
  (void)take(1);
}

TEST_F(crews, work_side_by_side) {
  slow_.close();
  crew_.start(4);
  for (std::uint64_t at = 0; at < 4; ++at) begin(io::kind::fill, at);
  wait_inside(4);
  slow_.open();
  (void)take(4);
}

/// A store that was hired for: all threads that it may have are in it, and others get done what they have begun.
TEST_F(crews, of_a_slow_store_hold_up_no_other) {
  crew_.start(2);
  slow_store other, third;
  crew_.hire(slow_);
  crew_.hire(other);
  slow_.close();
  for (std::uint64_t at = 0; at < 8; ++at) begin(io::kind::fill, at);
  wait_inside(slow_.threads());
  const auto begin_of = [&](slow_store& which, std::uint64_t at) {
    io& o = *all_.emplace_back(std::make_unique<io>());
    o.what = io::kind::fill;
    o.of = &which;
    o.at = at;
    crew_.begin(o);
  };
  for (std::uint64_t at = 0; at < 8; ++at) begin_of(other, at);
  for (std::uint64_t at = 0; at < 8; ++at) begin_of(third, at);  // has none of its own
  for (const io* const o : take(16)) EXPECT_NE(o->of, &slow_);
  EXPECT_EQ(slow_.inside, slow_.threads()) << "no more than it may have";
  slow_.open();
  (void)take(8);
  EXPECT_EQ(slow_.done, 8u);
}

/// Of a store that is closed nothing is left, nor of its threads.
TEST_F(crews, close_stores) {
  struct closed_store : slow_store {
    explicit closed_store(std::atomic<unsigned>& count) : closed(count) {}
    ~closed_store() override { ++closed; }
    std::atomic<unsigned>& closed;
  };
  std::atomic<unsigned> closed{0};
  for (unsigned i = 0; i < 3; ++i) {
    auto* const one = new closed_store(closed);
    crew_.hire(*one);
    for (const io::kind what : {io::kind::flush, io::kind::close}) {
      io& o = *all_.emplace_back(std::make_unique<io>());
      o.what = what;
      o.of = one;
      crew_.begin(o);
      (void)take(1);
    }
    EXPECT_EQ(closed, i + 1);
  }
  crew_.stop();
}

/// A thread that has seen a ticket, which another one takes that stops all: as many as before may be there then, and
/// none of them is to be taken.
TEST(crew_tickets, that_were_seen_before_all_stopped_are_not_taken) {
  crew_tickets t;
  t.add();
  const std::uint32_t seen = t.look();
  EXPECT_TRUE(t.take(t.look()));
  t.stop();
  t.add();
  EXPECT_FALSE(t.take(seen));
  EXPECT_FALSE(t.take(t.look()));
  EXPECT_TRUE(t.has_stopped());
}

/// What was begun before there were threads waits for them; what nobody has begun with when they stop is not done.
TEST_F(crews, start_and_stop) {
  begin(io::kind::flush, 1);
  crew_.start(1);
  (void)take(1);
  slow_.close();
  begin(io::kind::flush, 2);
  wait_inside(2);
  begin(io::kind::flush, 3);
  std::atomic<bool> is_about_to{false};
  std::thread stops([&] {
    is_about_to = true;
    crew_.stop();
  });
  while (!is_about_to) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // to tell them to is all that comes first
  slow_.open();
  stops.join();
  EXPECT_EQ(slow_.done, 2u);
  crew_.stop();
}

}  // namespace
}  // namespace quire::store::crew_test
