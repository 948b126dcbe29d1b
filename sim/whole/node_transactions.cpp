// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/node_transactions.hpp"

#include <algorithm>

#include "core/transactions.hpp"

namespace quire::whole {

namespace {
constexpr unsigned attempts_before_turn = 4;
constexpr std::uint64_t shortest_pause_ns = 2'000;
}  // namespace

std::optional<recorder::id> node_transactions::begin(actor& a, unsigned attempt, bool turn, std::uint64_t first) {
  // The restarts that programs force make more attempts than others can.
  if (attempt > 2) a.here.pause(a.draw.below(shortest_pause_ns << std::min(attempt - 1, attempts_before_turn)));
  turn |= attempt > attempts_before_turn;
  recorder::id begun = 0;
  const auto note = [&](std::uint64_t value) {
    begun = record_.begin(a.here);
    record_.read(begun, first, value);
  };
  if (!turn && a.here.begin_meanwhile(first, note)) return begun;
  const auto why = a.here.core().transactions.begin(turn);
  if (!why.ok()) world_.fail("a transaction begins with status " + std::to_string(why.code()));
  return {};
}

bool node_transactions::commit(actor& a, recorder::id) {
  const auto why = a.here.core().transactions.commit();
  a.must(why, "a commit", QUIRE_CONFLICT);
  return why.ok();
}

bool node_transactions::abort(actor& a) {
  const auto why = a.here.core().transactions.abort();
  a.must(why, "an abort", QUIRE_CONFLICT);
  return why.ok();
}

void node_transactions::take_turn(actor& a) {
  const auto why = a.here.core().transactions.take_turn();
  a.must(why, "a turn", QUIRE_CONFLICT);
  if (!why.ok()) throw restart{};
}

}  // namespace quire::whole
