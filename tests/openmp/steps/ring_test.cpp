// SPDX-License-Identifier: BSD-3-Clause
// Rings under all orders of their steps: every word arrives once, and those of one sender in their order.
#include <memory>
#include <vector>

#include "expect.hpp"
#include "program/omp/team/letter.hpp"
#include "program/omp/team/steps/ring.hpp"

namespace quire::program::steps::ring_test {
namespace {

struct today {
  template <class SlotOf>
  static std::uint64_t take(ring_receiver& ring, SlotOf&& slot_of) {
    return ring.take(slot_of);
  }
};
/// The slot is free before its word is read for good: the next one may be there by then.
struct freed_too_early {
  template <class SlotOf>
  static std::uint64_t take(ring_receiver& ring, SlotOf&& slot_of) {
    word& slot = slot_of(ring.next());
    if (slot.load() == 0) return 0;
    std::uint64_t kept = 0;
    (void)ring.take([&](std::uint64_t number) -> word& { return slot_of(number); });
    kept = slot.load();
    return kept;
  }
};
/// A sender does not look whether the slot is free.
struct written_over {};

/// Threads of one node send numbered words to another one, whose thread takes them.
template <class How>
class one_way : public program {
 public:
  one_way(int senders, std::uint64_t words, std::size_t slots)
      : senders_(senders), words_(words), taken_(static_cast<std::size_t>(senders)) {
    for (std::size_t i = 0; i < slots; ++i) slots_.push_back(std::make_unique<word>(0, "a slot"));
  }
  int threads() const override { return senders_ + 1; }
  void run(int number) override {
    if (number == senders_) return receive();
    for (std::uint64_t i = 1; i <= words_; ++i) {
      for (watch waits;;) {
        waits.look();
        if (try_send(word_of({letter::kind::arrived, static_cast<std::uint64_t>(number) << 8 | i}))) break;
        waits.wait();
      }
      world::now().settle(i);
    }
  }
  std::uint64_t fingerprint() const override {
    std::uint64_t all = join(out_.next(), in_.next());
    for (const std::uint64_t n : taken_) all = join(all, n);
    return all;
  }

 private:
  auto slots() {
    return [this](std::uint64_t number) -> word& { return *slots_[number % slots_.size()]; };
  }
  bool try_send(std::uint64_t what) {
    const std::lock_guard held(guard_);
    if constexpr (std::is_same_v<How, written_over>) {
      slots()(next_++).store(what);
      return true;
    }
    return out_.try_put(slots(), what);
  }
  void receive() {
    for (std::uint64_t left = words_ * static_cast<std::uint64_t>(senders_); left != 0; --left) {
      std::uint64_t what = 0;
      for (watch waits;;) {
        waits.look();
        if ((what = take()) != 0) break;
        waits.wait();
      }
      const letter l = letter_of(what);
      const auto sender = static_cast<std::size_t>(l.value >> 8);
      world::now().require(l.what == letter::kind::arrived && sender < taken_.size(), "a word is none that was sent");
      world::now().require((l.value & 255) == ++taken_[sender],
                           "a sender's words arrive in another order, or not once each");
      world::now().settle(left);
    }
  }
  std::uint64_t take() {
    if constexpr (std::is_same_v<How, written_over>)
      return today::take(in_, slots());
    else
      return How::take(in_, slots());
  }

  int senders_;
  std::uint64_t words_, next_ = 0;
  std::vector<std::unique_ptr<word>> slots_;
  mutex guard_{true, "the sender's end"};
  ring_sender out_;
  ring_receiver in_;
  std::vector<std::uint64_t> taken_;  ///< by sender
};

template <class How>
factory of(int senders, std::uint64_t words, std::size_t slots) {
  return [=] { return std::make_unique<one_way<How>>(senders, words, slots); };
}

TEST(ring_steps, words_arrive_once_and_in_order_in_all_orders) {
  expect_well(explore(of<today>(1, 5, 2)));
  expect_well(explore(of<today>(2, 4, 2)));
  expect_well(explore(of<today>(3, 2, 2)));
  expect_well(explore(of<today>(2, 3, 1)));
}
TEST(ring_steps, words_arrive_once_and_in_order_in_random_orders) { expect_well_at_random(of<today>(8, 30, 4), 1000); }
TEST(ring_steps, a_slot_that_is_free_too_early_is_found) {
  EXPECT_NE(explore(of<freed_too_early>(1, 4, 2)).failure, "");
}
TEST(ring_steps, a_word_that_is_written_over_is_found) { EXPECT_NE(explore(of<written_over>(1, 4, 2)).failure, ""); }

TEST(letters, are_words_that_are_not_zero) {
  for (const auto kind : {letter::kind::arrived, letter::kind::released, letter::kind::hungry, letter::kind::given,
                          letter::kind::ended, letter::kind::left}) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 60) - 1}) {
      EXPECT_NE(word_of({kind, value}), 0u);
      EXPECT_EQ(letter_of(word_of({kind, value})).what, kind);
      EXPECT_EQ(letter_of(word_of({kind, value})).value, value);
    }
  }
}

}  // namespace
}  // namespace quire::program::steps::ring_test
