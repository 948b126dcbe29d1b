// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/turns.hpp"

namespace quire::whole {

/// Some lie beside others, and some do not.
std::uint64_t turns::flag(unsigned which) const {
  return options_.flags + which % options_.pages * options_.page_bytes + which * sizeof(std::uint64_t);
}

std::uint64_t turns::word(unsigned which, std::uint64_t page, std::uint64_t number) const {
  return options_.base + page * options_.page_bytes + (first_word + which * words + number) * sizeof(std::uint64_t);
}

/// A flag is 0 as long as nobody has handed it on: it is the first thread's then.
void turns::step(actor& a, unsigned place) {
  const auto which = static_cast<unsigned>(a.draw.below(options_.count));
  const std::uint64_t at = flag(which);
  if (look(a, at) != place) return;
  ++taken_;
  for (std::uint64_t i = 1 + a.draw.below(6); i != 0 && !world_.failed(); --i) {
    const std::uint64_t one = word(which, a.draw.below(options_.pages), a.draw.below(words));
    a.draw.chance(50) ? (void)a.read(one) : a.write(one);
    if (a.draw.chance(20)) a.rest();
  }
  hand_on(a, at);
}

/// By a load, or by an operation that changes nothing. The flag may be about to be changed.
std::uint64_t turns::look(actor& a, std::uint64_t at) {
  return a.draw.chance(50) ? a.here.load(at) : a.operate(at, model::atomic_operation::add, 0);
}

void turns::hand_on(actor& a, std::uint64_t at) {
  const std::uint64_t next = a.draw.below(options_.threads);
  if (a.draw.chance(50)) return a.write(at, next);
  world_.wrote(at, next, a.here.self());  // from here on another thread may see it before this one goes on
  (void)a.operate(at, model::atomic_operation::exchange, next);
}

}  // namespace quire::whole
