// SPDX-License-Identifier: BSD-3-Clause
// A counter serves one loop of a region after the other. Its word has the loop's number above, and the iterations that are taken below: who comes
// first to a loop finds the number of an older one, and begins anew. When the region is over the master clears the counters. All operations are done
// where the word lies.
#include "openmp/team/take.hpp"

#include <sched.h>

#include <algorithm>

#include "openmp/start/fail.hpp"
#include "openmp/team/members.hpp"

namespace quire::openmp {
namespace {

constexpr unsigned number_shift = 40;
constexpr std::uint64_t taken_mask = (std::uint64_t{1} << number_shift) - 1;

/// Replaces what is expected; if something else is there, that is expected from now on.
bool replace(std::uint64_t* word, std::uint64_t& expected, std::uint64_t by) noexcept {
  if (!me().spans) return __atomic_compare_exchange_n(word, &expected, by, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  int done = 0;
  if (const quire_status why = quire_compare_exchange(word, &expected, by, &done); why != QUIRE_OK) fail("a loop cannot go on", why);
  return done != 0;
}

loop_counter& counter_of(std::uint64_t number) noexcept {
  const std::uint64_t at = number % common_state::most_shares;
  return me().spans ? shared().shares[at].counter : me().in_team->counters[at];
}

/// A thread may come here so late that the counter is a later loop's: then nothing of its own is left, as nobody leaves a loop before.
part take(std::uint64_t number, const loop& l) noexcept {
  if (l.iterations > taken_mask) fail("a loop of more than 2^40 iterations cannot hand them out: use schedule(static)", QUIRE_LIMIT);
  std::uint64_t* const word = &counter_of(number).word;
  const auto threads = static_cast<std::uint64_t>(me().count);
  for (std::uint64_t now = number << number_shift;;) {
    const std::uint64_t of = now >> number_shift, first = of == number ? now & taken_mask : 0;
    if (of > number || first >= l.iterations) return {l.iterations, l.iterations};
    const std::uint64_t left = l.iterations - first;
    const std::uint64_t much = l.how == loop::schedule::guided ? std::max(l.chunk, left / (2 * threads)) : l.chunk;
    if (replace(word, now, number << number_shift | (first + std::min(left, much)))) return {first, first + std::min(left, much)};
  }
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

}  // namespace quire::openmp
