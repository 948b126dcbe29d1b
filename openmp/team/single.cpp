// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/team/single.hpp"

#include <quire/quire.h>

#include <atomic>
#include <cstdint>

#include "openmp/start/fail.hpp"
#include "openmp/team/members.hpp"

namespace quire::openmp {
namespace {

constexpr unsigned region_shift = 32;

/// The caller is the first to claim `number`, counted from 1 in the region. The word has the region's number above, and the last construct that is
/// claimed below. Nobody comes to a construct before the one in front of it is claimed: so the word grows by one at a time.
bool claim(const team& t, std::uint64_t number) noexcept {
  const std::uint64_t region = t.sequence << region_shift;
  std::uint64_t now = region | (number - 1);
  for (;;) {
    int done = 0;
    if (const quire_status why = quire_compare_exchange(&shared().single, &now, region | number, &done); why != QUIRE_OK) fail("a single cannot begin", why);
    if (done != 0) return true;
    if ((now ^ region) >> region_shift == 0 && now >= (region | number)) return false;
  }
}

}  // namespace

bool is_first_at_single() noexcept {
  context& c = me();
  if (c.count == 1) return true;
  team& t = *c.in_team;
  std::uint64_t before = c.singles++;
  if (!t.spans) return t.singles.compare_exchange_strong(before, c.singles);
  if (t.singles.load() >= c.singles) return false;
  const bool first = claim(t, c.singles);
  // Only now may the node's other threads pass without a message of their own: a thread that passed before could claim the next construct first.
  while (before < c.singles && !t.singles.compare_exchange_weak(before, c.singles)) {
  }
  return first;
}

}  // namespace quire::openmp
