// SPDX-License-Identifier: BSD-3-Clause
// Parts are taken from counters as steps/take.hpp says, by operations that are done where a counter lies. When the
// region is over the master clears them.
#include "program/omp/team/take.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>

#include "program/omp/team/members.hpp"
#include "program/omp/team/shared_word.hpp"
#include "program/omp/team/steps/take.hpp"
#include "program/posix/errands/output.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

using steps::number_shift;
using steps::taken_mask;

loop_counter& counter_of(std::uint64_t number) noexcept {
  const std::uint64_t at = number % common_state::most_shares;
  return me().spans ? shared().shares[at].counter : me().in_team->counters[at];
}

part take(std::uint64_t number, const loop& l) noexcept {
  if (l.iterations > taken_mask)
    fail("a loop of more than 2^40 iterations cannot hand them out: use schedule(static)", QUIRE_LIMIT);
  const auto threads = static_cast<std::uint64_t>(me().count);
  const auto size = [&](std::uint64_t left) {
    return l.how == loop::schedule::guided ? std::max(l.chunk, left / (2 * threads)) : l.chunk;
  };
  const auto take_from = [&](auto word) {
    const steps::taken its = steps::take(word, number, l.iterations, size);
    return part{its.first, its.end};
  };
  std::uint64_t& word = counter_of(number).word;
  if (me().spans) return take_from(shared_word(&word, "a loop cannot go on"));
  return take_from(std::atomic_ref(word));
}

part take_by_number(const loop& l) noexcept {
  context& c = me();
  const auto number = static_cast<std::uint64_t>(c.number), count = static_cast<std::uint64_t>(c.count);
  const std::uint64_t round = c.rounds++;
  if (l.how == loop::schedule::rounds) {
    const std::uint64_t first = (round * count + number) * l.chunk;
    return {first, first + l.chunk};
  }
  if (round != 0) return {l.iterations, l.iterations};
  const std::uint64_t each = l.iterations / count, more = l.iterations % count;
  const std::uint64_t first = number * each + std::min(number, more);
  return {first, first + each + (number < more ? 1 : 0)};
}

}  // namespace

void begin_loop(const loop& l) noexcept {
  context& c = me();
  ++c.shares;
  c.in = l;
  c.rows = nullptr;
  c.rounds = c.part_first = c.part_end = 0;
}

namespace {

/// 0: nobody has had a turn in the caller's loop.
std::uint64_t turn_of(const loop_counter& c, std::uint64_t number) noexcept {
  const std::uint64_t now = __atomic_load_n(&c.turn, __ATOMIC_ACQUIRE);
  return now >> number_shift == number ? now & taken_mask : 0;
}

std::uint64_t number_of_loop() noexcept { return me().counted = me().shares & (~std::uint64_t{0} >> number_shift); }

}  // namespace

/// The word is read here until another node writes it.
void wait_for_turn() noexcept {
  const context& c = me();
  if (c.count == 1 || c.part_first == c.part_end) return;
  const std::uint64_t number = number_of_loop();
  for (unsigned tries = 0; turn_of(counter_of(number), number) != c.part_first; ++tries) {
    constexpr unsigned short_while = 1000;
    if (tries < short_while) {
      __builtin_ia32_pause();
    } else {
      ::sched_yield();
    }
  }
}

/// The next may have their turn.
static void end_turn() noexcept {
  context& c = me();
  if (c.count == 1 || c.part_first == c.part_end) return;
  wait_for_turn();
  const std::uint64_t number = number_of_loop();
  write_output();
  __atomic_store_n(&counter_of(number).turn, number << number_shift | c.part_end, __ATOMIC_RELEASE);
}

bool next_part(part& p) noexcept {
  const loop& l = me().in;
  const bool alone = me().count == 1;
  if (l.ordered) end_turn();
  if (alone) {
    const std::uint64_t round = me().rounds++;
    p = l.sections ? part{round, round + 1} : round == 0 ? part{0, l.iterations} : part{};
  } else if (l.how == loop::schedule::blocks || l.how == loop::schedule::rounds) {
    p = take_by_number(l);
  } else {
    p = take(number_of_loop(), l);
  }
  p.end = std::min(p.end, l.iterations);
  me().part_first = std::min(p.first, p.end);
  me().part_end = p.end;
  return p.first < p.end;
}

/// Counters are used again after so many loops; a thread that waits for its turn must not find a later loop there.
void end_loop_nowait() noexcept {
  constexpr std::uint64_t often = common_state::most_shares / 2;
  if (me().in.ordered && me().shares % often == 0) team_barrier();
}

void clear_counters(std::uint64_t loops) noexcept {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(loops + 1, common_state::most_shares); ++i) counter_of(i) = {};
}

}  // namespace quire::program
