// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/hosts.hpp"

#include <algorithm>
#include <charconv>

#include "base/options.hpp"

namespace quire::bootstrap::launcher {
namespace {

bool read_slots(std::string_view text, int& slots) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  return error == std::errc{} && at == text.data() + text.size() && slots >= 1 && slots <= base::most_nodes;
}

/// "name" or "name:slots". A name must not be taken for an option of what it is given to.
bool add_host(std::string_view word, std::vector<host_entry>& hosts, std::string& why) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  host_entry host{std::string(word.substr(0, colon)), 1};
  if (host.name.empty() || host.name[0] == '-' || host.name.find_first_of(" \t'\"\\$`;&|<>()") != host.name.npos) {
    why = "'" + std::string(word) + "' is no host name";
    return false;
  }
  if (colon < word.size() && !read_slots(word.substr(colon + 1), host.slots)) {
    why = std::string(word) + ": after the colon stands how many nodes the host takes";
    return false;
  }
  hosts.push_back(std::move(host));
  return true;
}

/// Cuts the part before the next of `separators` off `rest`.
std::string_view next_part(std::string_view& rest, std::string_view separators) {
  const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
  const auto part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

base::result<std::vector<host_entry>> parse_hosts(std::string_view list, std::string& why) {
  std::vector<host_entry> hosts;
  while (!list.empty())
    if (!add_host(next_part(list, ","), hosts, why)) return QUIRE_BAD_OPTION;
  if (!hosts.empty()) return hosts;
  why = "no host is named";
  return QUIRE_BAD_OPTION;
}

base::result<std::vector<host_entry>> parse_host_file(std::string_view text, std::string& why) {
  std::vector<host_entry> hosts;
  while (!text.empty()) {
    auto line = next_part(text, "\n");
    line = line.substr(0, line.find('#'));
    bool first = true;
    while (!line.empty()) {
      const auto word = next_part(line, " \t\r");
      if (word.empty()) continue;
      if (std::exchange(first, false)) {
        if (!add_host(word, hosts, why)) return QUIRE_BAD_OPTION;
      } else if (!word.starts_with("slots=") || !read_slots(word.substr(6), hosts.back().slots)) {
        why = "'" + std::string(word) + "' after host " + hosts.back().name + "; only slots=N may stand there";
        return QUIRE_BAD_OPTION;
      }
    }
  }
  if (!hosts.empty()) return hosts;
  why = "no host is named";
  return QUIRE_BAD_OPTION;
}

int slots_of(const std::vector<host_entry>& hosts) {
  int slots = 0;
  for (const auto& host : hosts) slots += host.slots;
  return slots;
}

std::vector<host_plan> place_nodes(const std::vector<host_entry>& hosts, int nodes) {
  std::vector<int> counts(hosts.size());
  for (int left = nodes; left > 0;) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const int taken = std::min(hosts[i].slots, left);
      counts[i] += taken;
      left -= taken;
    }
  }
  std::vector<host_plan> plan;
  int first = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (counts[i] > 0) plan.push_back({hosts[i].name, first, counts[i]});
    first += counts[i];
  }
  return plan;
}

}  // namespace quire::bootstrap::launcher
