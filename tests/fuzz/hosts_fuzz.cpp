// SPDX-License-Identifier: BSD-3-Clause
// Lists of hosts as people write them.
#include <string>

#include "base/options.hpp"
#include "bootstrap/launcher/hosts.hpp"
#include "input.hpp"

using namespace quire;
using namespace quire::bootstrap::launcher;

namespace {

void look_at(const base::result<std::vector<host_entry>>& hosts, const std::string& why, int nodes) {
  if (!hosts.ok()) {
    MUST(!why.empty());
    return;
  }
  MUST(!hosts.value().empty());
  for (const auto& host : hosts.value()) MUST(!host.name.empty() && host.slots >= 1 && host.slots <= base::most_nodes);
  int placed = 0;
  for (const auto& plan : place_nodes(hosts.value(), nodes)) {
    MUST(plan.first == placed && plan.nodes >= 1);
    placed += plan.nodes;
  }
  MUST(placed == nodes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, std::min<std::size_t>(bytes, 4096));
  const int nodes = 1 + in.take<std::uint16_t>() % base::most_nodes;
  std::string why;
  look_at(parse_hosts(fuzz::text_of(in.rest()), why), why, nodes);
  why.clear();
  look_at(parse_host_file(fuzz::text_of(in.rest()), why), why, nodes);
  return 0;
}
