// SPDX-License-Identifier: BSD-3-Clause
#include "closed_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "advisor/decide.hpp"
#include "base/options.hpp"
#include "starters.hpp"

namespace quire::tools {
namespace {

/// Whether it stands among the options of `quire exec`, as "--memory mixed" or "--memory=mixed".
bool is_behind_exec(const std::vector<std::string>& words, const std::string& option) {
  const auto found = find_program_in(words);
  if (!found.by_exec) return false;
  for (std::size_t at = found.exec_at + 2; at < found.at; ++at)
    if (words[at] == option || words[at].starts_with(option + "=")) return true;
  return false;
}

bool is_set(const std::string& name, std::span<const std::string> settings, const base::option_values& environment) {
  const auto which = base::find_option(name)->id;
  return environment.given(which) || std::ranges::any_of(settings, [&](const std::string& one) {
           const base::option_row* const row = base::find_option(one.substr(0, one.find('=')));
           return row != nullptr && row->id == which;
         });
}

}  // namespace

std::vector<std::string> closed_options(const std::string& memory, const std::string& place,
                                        std::span<const std::string> settings, const std::vector<std::string>& words) {
  std::vector<std::string> closed;
  std::string why;
  base::option_values environment;
  if (const auto read = base::read_options(environ, why); read.ok()) environment = read.value();
  std::ranges::copy_if(advisor::tuned_options, std::back_inserter(closed),
                       [&](const char* name) { return is_set(name, settings, environment); });
  if (!memory.empty() || is_behind_exec(words, "--memory")) closed.emplace_back(advisor::tuned_memory);
  if (!place.empty() || is_behind_exec(words, "--place")) closed.emplace_back(advisor::tuned_place);
  return closed;
}

}  // namespace quire::tools
