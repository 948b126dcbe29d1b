// SPDX-License-Identifier: BSD-3-Clause
// Lists of hosts, and which nodes of a job run on which. Pure; used by `quire run` before it starts anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bootstrap/launcher/launcher.hpp"

namespace quire::bootstrap::launcher {

struct host_entry {
  std::string name;
  int slots = 1;  ///< nodes that it takes before the next host's turn
};

/// "a,b:2,c": names with how many nodes each takes (1). BAD_OPTION with a sentence in `why`.
[[nodiscard]] base::result<std::vector<host_entry>> parse_hosts(std::string_view list, std::string& why);
/// A host file: a line for each host, "name", "name:2" or "name slots=2"; from # on comments. BAD_OPTION as above.
[[nodiscard]] base::result<std::vector<host_entry>> parse_host_file(std::string_view text, std::string& why);
[[nodiscard]] int slots_of(const std::vector<host_entry>& hosts);
/// Distributes `nodes` over the hosts, as their slots say, and again from the first if there are more nodes.
/// Neighbouring nodes share a host; hosts that get none are left out.
[[nodiscard]] std::vector<host_plan> place_nodes(const std::vector<host_entry>& hosts, int nodes);

}  // namespace quire::bootstrap::launcher
