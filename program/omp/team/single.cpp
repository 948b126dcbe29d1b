// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/single.hpp"

#include "program/omp/team/members.hpp"
#include "program/omp/team/shared_word.hpp"
#include "program/omp/team/steps/single.hpp"

namespace quire::program {

bool is_first_at_single() noexcept {
  context& c = me();
  if (c.count == 1) return true;
  team& t = *c.in_team;
  const std::uint64_t number = ++c.singles;
  if (!t.spans) return steps::is_first_on_node(t.singles, number);
  shared_word last(&shared().single, "a single cannot begin");
  return steps::is_first_of_all(last, t.singles, t.sequence, number);
}

}  // namespace quire::program
