// SPDX-License-Identifier: BSD-3-Clause
// `single` under all orders of its steps: exactly one thread does each.
#include <memory>
#include <vector>

#include "expect.hpp"
#include "program/omp/team/steps/single.hpp"

namespace quire::program::steps::single_test {
namespace {

struct shape {
  int nodes, threads_each, constructs;
};

/// As the team's: `heard` is marked when the claim is known.
struct today {
  static bool is_first(word& last, word& heard, std::uint64_t region, std::uint64_t number) {
    return is_first_of_all(last, heard, region, number);
  }
};
/// As it once was: a thread that comes later passes before anybody has claimed the construct, and may claim the next
/// one first.
struct marked_too_early {
  static bool is_first(word& last, word& heard, std::uint64_t region, std::uint64_t number) {
    std::uint64_t before = number - 1;
    return heard.compare_exchange_strong(before, number) && claim(last, region, number);
  }
};
/// A thread that finds a later construct claimed takes its own for free.
struct equal_only {
  static bool is_first(word& last, word& heard, std::uint64_t region, std::uint64_t number) {
    if (heard.load() >= number) return false;
    const std::uint64_t base = region << region_shift;
    std::uint64_t now = base | (number - 1);
    bool first = false;
    while (!(first = last.compare_exchange_strong(now, base | number)) && now != (base | number)) {
    }
    hear(heard, number);
    return first;
  }
};
struct on_one_node {
  static bool is_first(word&, word& heard, std::uint64_t, std::uint64_t number) {
    return is_first_on_node(heard, number);
  }
};

/// Threads run through nowait singles, one after the other.
template <class How>
class singles : public program {
 public:
  explicit singles(const shape& s) : shape_(s), done_(static_cast<std::size_t>(s.constructs)) {
    for (int i = 0; i < s.nodes; ++i) heard_.push_back(std::make_unique<word>(0, "heard by a node"));
  }
  int threads() const override { return shape_.nodes * shape_.threads_each; }
  int role(int number) const override { return number / shape_.threads_each; }
  void run(int number) override {
    word& heard = *heard_[static_cast<std::size_t>(number / shape_.threads_each)];
    for (int i = 1; i <= shape_.constructs; ++i) {
      const auto construct = static_cast<std::uint64_t>(i);
      if (How::is_first(last_, heard, region, construct)) {
        world::now().require(++done_[construct - 1] == 1, "two threads do one single");
      }
      world::now().settle(construct);
    }
  }
  std::uint64_t fingerprint() const override {
    std::uint64_t all = 0;
    for (const int n : done_) all = all << 1 | static_cast<std::uint64_t>(n);
    return all;
  }
  std::string verdict() const override {
    for (const int n : done_) {
      if (n != 1) return "nobody does a single";
    }
    return {};
  }

 private:
  static constexpr std::uint64_t region = 7;
  shape shape_;
  word last_{(region - 1) << region_shift | 5, "the last claimed"};  // as a region before has left it
  std::vector<std::unique_ptr<word>> heard_;
  std::vector<int> done_;
};

template <class How>
factory of(const shape& s) {
  return [s] { return std::make_unique<singles<How>>(s); };
}

TEST(single_steps, each_is_done_by_one_thread_in_all_orders) {
  for (const shape& s : {shape{2, 2, 3}, shape{3, 1, 3}, shape{2, 1, 4}, shape{2, 3, 2}})
    expect_well(explore(of<today>(s)));
}
TEST(single_steps, each_is_done_by_one_thread_of_a_node) { expect_well(explore(of<on_one_node>({1, 3, 4}))); }

TEST(single_steps, each_is_done_by_one_thread_in_random_orders) { expect_well_at_random(of<today>({3, 3, 50}), 2000); }

TEST(single_steps, a_construct_that_nobody_does_is_found) {
  expect_found(explore(of<marked_too_early>({2, 2, 3})), "nobody does a single");
}
TEST(single_steps, it_takes_two_threads_of_one_node) { expect_well(explore(of<marked_too_early>({3, 1, 3}))); }
TEST(single_steps, a_thread_far_behind_that_claims_is_found) {
  EXPECT_NE(explore(of<equal_only>({2, 1, 3})).failure, "");
}

}  // namespace
}  // namespace quire::program::steps::single_test
