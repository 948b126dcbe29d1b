// SPDX-License-Identifier: BSD-3-Clause
// The board of tasks (services/task_board.hpp) under transactions of several nodes in any order, some of which are
// undone, and jobs that go on from a checkpoint with more or fewer nodes. A task runs once, on a node that may, unless
// it was cancelled, and then never; of equal priority in the order in which they came; and its number is used again
// when it is over.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "services/task_board.hpp"
#include "sim/random.hpp"
#include "sim/seeds.hpp"

namespace quire::services::services_task_board_test {
namespace {

constexpr unsigned places = 3;

/// What the board stands for.
struct known {
  unsigned queue = 0, priority = 0;
  std::uint64_t came = 0;
  bool in_hand = false;
};
struct state {
  std::vector<std::byte> bytes{};
  std::map<std::uint64_t, known> waiting{};  ///< by generation and number
  unsigned nodes = places;
};

class job {
 public:
  explicit job(std::uint64_t seed) : draw_(seed) {
    now_.bytes.resize(task_board::bytes_for(places));
    saved_ = now_;
  }
  void step() {
    const std::uint64_t what = draw_.below(100);
    if (what < 2) return restart();
    if (what < 4) return void(saved_ = now_);
    const bool undone = what < 14;
    const state before = undone ? now_ : state{};
    const auto node = static_cast<unsigned>(draw_.below(now_.nodes));
    transact(node);
    if (undone) now_ = before;
    ASSERT_LE(now_.waiting.size(), most_);
  }
  unsigned ran = 0, cancelled = 0, restarts = 0;

 private:
  [[nodiscard]] task_board board() { return {now_.bytes.data(), places}; }
  [[nodiscard]] std::uint64_t id_of(std::uint32_t number) {
    return std::uint64_t{board().at(number).generation} << 32 | number;
  }

  void transact(unsigned node) {
    switch (draw_.below(5)) {
      case 0:
      case 1:
        return make(node);
      case 2:
        return cancel();
      case 3:
        return take(node);
      default:
        return run_taken(node);
    }
  }
  void make(unsigned node) {
    if (now_.waiting.size() == most_) return;
    const std::uint32_t number = board().make(node);
    ASSERT_NE(number, 0u);
    task& t = board().at(number);
    ASSERT_EQ(t.generation % 2, 0u) << "a number is used twice";
    t.queue = draw_.chance(50) ? board().any() : static_cast<unsigned>(draw_.below(now_.nodes));
    t.priority = static_cast<unsigned>(draw_.below(2));
    ++t.generation;
    board().enqueue(number);
    now_.waiting[id_of(number)] = {t.queue, t.priority, ++came_, false};
  }
  void cancel() {
    if (now_.waiting.empty()) return;
    auto which = now_.waiting.begin();
    std::advance(which, static_cast<std::ptrdiff_t>(draw_.below(now_.waiting.size())));
    const auto number = static_cast<std::uint32_t>(which->first);
    const auto generation = static_cast<std::uint32_t>(which->first >> 32);
    ASSERT_TRUE(board().remove(number, generation)) << "a task that waits cannot be cancelled";
    ASSERT_FALSE(board().remove(number, generation)) << "a task is cancelled twice";
    now_.waiting.erase(which);
    ++cancelled;
  }
  void take(unsigned node) {
    if (board().in(node).number != 0) return;
    std::uint64_t due = 0;
    const std::uint32_t number = board().find(node, 1, due);
    const auto best = best_of(node);
    ASSERT_EQ(number != 0, best != now_.waiting.end()) << "a node does not see what it may run";
    if (number == 0) return;
    const auto found = now_.waiting.find(id_of(number));
    ASSERT_NE(found, now_.waiting.end()) << "a task is found that does not wait";
    const known& k = found->second;
    ASSERT_FALSE(k.in_hand) << "a task is taken twice";
    ASSERT_TRUE(k.queue == node || k.queue == board().any()) << "a node takes the task of another";
    ASSERT_EQ(k.priority, best->second.priority) << "a more urgent task waits";
    for (const auto& [id, other] : now_.waiting) {
      const bool same = !other.in_hand && other.queue == k.queue && other.priority == k.priority;
      ASSERT_FALSE(same && other.came < k.came) << "a task overtakes an older one";
    }
    board().take(node, number);
    found->second.in_hand = true;
  }
  [[nodiscard]] std::map<std::uint64_t, known>::iterator best_of(unsigned node) {
    auto best = now_.waiting.end();
    for (auto at = now_.waiting.begin(); at != now_.waiting.end(); ++at) {
      const bool may = !at->second.in_hand && (at->second.queue == node || at->second.queue == board().any());
      if (may && (best == now_.waiting.end() || at->second.priority < best->second.priority)) best = at;
    }
    return best;
  }
  void run_taken(unsigned node) {
    task_board::hand& h = board().in(node);
    if (h.number == 0) return;
    const std::uint32_t number = h.number;
    if (draw_.chance(10)) {  // it waits for something, and others may come first
      now_.waiting.at(id_of(number)).in_hand = false;
      now_.waiting.at(id_of(number)).came = 0;  // it is the first again
      for (auto& [id, other] : now_.waiting) other.came += id != id_of(number) ? 1 : 0;
      came_ += 1;
      return board().put_back(node);
    }
    ASSERT_EQ(now_.waiting.erase(id_of(number)), 1u) << "a task runs that was cancelled, or has run";
    h.number = 0;
    board().end(node, number);
    ++ran;
  }
  /// As it was saved, with any number of nodes.
  void restart() {
    now_ = saved_;
    now_.nodes = 1 + static_cast<unsigned>(draw_.below(places));
    board().go_on(now_.nodes);
    for (auto& [id, k] : now_.waiting) {
      if (k.queue != board().any() && k.queue >= now_.nodes) k.queue = board().any();
      k.in_hand = false;
    }
    for (auto& [id, k] : now_.waiting) k.came = place_in_queue(static_cast<std::uint32_t>(id));
    came_ = most_;
    ++restarts;
  }
  [[nodiscard]] std::uint64_t place_in_queue(std::uint32_t wanted) {
    const task& t = board().at(wanted);
    std::uint64_t place = 1;
    for (std::uint32_t n = board().of(t.queue).first[t.priority]; n != 0 && n != wanted; n = board().at(n).next)
      ++place;
    return place;
  }

  static constexpr std::size_t most_ = 200;
  sim::random draw_;
  state now_{}, saved_{};
  std::uint64_t came_ = 0;
};

TEST(services_task_board, runs_each_task_once) {
  unsigned ran = 0, cancelled = 0, restarts = 0;
  for (const std::uint64_t seed : sim::seeds(1, 20, sim::looks_for::rare_outcomes)) {
    job j(seed);
    for (int i = 0; i < 600 && !testing::Test::HasFatalFailure(); ++i) j.step();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "replay: QUIRE_SIM_SEED=" << seed;
    ran += j.ran;
    cancelled += j.cancelled;
    restarts += j.restarts;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(ran, 500u);
  EXPECT_GT(cancelled, 500u);
  EXPECT_GT(restarts, 100u);
}

}  // namespace
}  // namespace quire::services::services_task_board_test
