// SPDX-License-Identifier: BSD-3-Clause
#include "base/option_rules.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace quire::base {
namespace {

constexpr option_state set(option which) { return {which, option_state::kind::set}; }
constexpr option_state unset(option which) { return {which, option_state::kind::unset}; }
template <class Choice>
constexpr option_state is(option which, Choice value) {
  return {which, option_state::kind::is, static_cast<std::int64_t>(value)};
}

constexpr option_rule rules[] = {
    {set(option::heap_grouping), unset(option::heap_views), QUIRE_BAD_OPTION,
     "QUIRE_HEAP_GROUPING groups what QUIRE_HEAP_VIEWS makes sharing units of: set that too, to 16 say"},
    {is(option::check, check_choice::pointers), is(option::pool, pool_choice::fork), QUIRE_UNSUPPORTED,
     "QUIRE_CHECK=pointers cannot look from the engine's process into the program's: choose another pool than 'fork'"},
    {is(option::check, check_choice::races), unset(option::report), QUIRE_BAD_OPTION,
     "QUIRE_CHECK=races leaves its record where QUIRE_REPORT says: set that to a directory, or start the program by "
     "`quire run --check`"},
    {is(option::check, check_choice::all_races), unset(option::report), QUIRE_BAD_OPTION,
     "QUIRE_CHECK=all_races leaves its record where QUIRE_REPORT says: set that to a directory, or start the "
     "program by `quire run --check=exact`"},
    {is(option::check, check_choice::races), is(option::on_failure, failure_choice::notify), QUIRE_UNSUPPORTED,
     "QUIRE_CHECK=races cannot tell which writes are whose after a death: set QUIRE_ON_FAILURE to end"},
    {is(option::check, check_choice::all_races), is(option::on_failure, failure_choice::notify), QUIRE_UNSUPPORTED,
     "QUIRE_CHECK=all_races cannot tell which writes are whose after a death: set QUIRE_ON_FAILURE to end"},
    {set(option::cache_limit), set(option::memory_limit), QUIRE_BAD_OPTION,
     "QUIRE_MEMORY_LIMIT limits what containers take of memory, too: unset QUIRE_CACHE_LIMIT, or that one"},
    {set(option::mount), is(option::on_failure, failure_choice::notify), QUIRE_UNSUPPORTED,
     "QUIRE_MOUNT shows containers, and there are none where survivors of a death go on (set QUIRE_ON_FAILURE to end)"},
    {set(option::mount), is(option::pool, pool_choice::fork), QUIRE_UNSUPPORTED,
     "QUIRE_MOUNT shows containers, and there are none where the pool is 'fork' (set QUIRE_POOL to memfd)"},
    {is(option::pool, pool_choice::fork), is(option::on_failure, failure_choice::notify), QUIRE_UNSUPPORTED,
     "a job with QUIRE_POOL=fork cannot go on when a node is lost: leave that out, or set QUIRE_ON_FAILURE to end"},
};

bool is_default(const option_row& row, const option_values& values) {
  const option_values standard;
  const bool of_words = row.type == option_type::path || row.type == option_type::text;
  return of_words ? values.text(row.id) == standard.text(row.id) : values.number(row.id) == standard.number(row.id);
}

}  // namespace

bool option_state::holds(const option_values& values) const {
  if (how == kind::is) return values.number(which) == value;
  return is_default(row_of(which), values) == (how == kind::unset);
}

std::string option_state::text() const {
  const option_row& row = row_of(which);
  if (how == kind::unset) return std::string("no ") + row.variable;
  if (how == kind::set) return row.variable;
  std::string_view words = row.legal;
  for (std::int64_t skip = value; skip > 0; --skip) words.remove_prefix(words.find('|') + 1);
  return std::string(row.variable) + "=" + std::string(words.substr(0, words.find('|')));
}

std::span<const option_rule> option_rules() noexcept { return rules; }

const option_rule* broken_rule(const option_values& values) {
  const auto* const found = std::find_if(std::begin(rules), std::end(rules), [&](const option_rule& r) {
    return r.one.holds(values) && r.other.holds(values);
  });
  return found != std::end(rules) ? found : nullptr;
}

}  // namespace quire::base
