#include "bootstrap/launcher/statistics.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quire::bootstrap::launcher {

using json = nlohmann::ordered_json;

job_statistics gather(std::span<const std::string> statistics) {
  job_statistics all;
  for (std::size_t node = 0; node < statistics.size(); ++node) {
    const json told = json::parse(statistics[node], nullptr, false);
    if (!told.is_object()) continue;
    ++all.nodes_told;
    for (const auto& item : told.items()) {
      const std::string& name = item.key();
      const json& value = item.value();
      if (!value.is_number_integer()) continue;
      auto row = std::find_if(all.rows.begin(), all.rows.end(), [&](const counter_row& r) { return r.name == name; });
      if (row == all.rows.end())
        row = all.rows.insert(row, {name, std::vector<std::optional<std::int64_t>>(statistics.size()), 0});
      row->by_node[node] = value.get<std::int64_t>();
      row->total += value.get<std::int64_t>();
    }
  }
  return all;
}

std::string statistics_json(const job_plan& plan, const job_outcome& outcome) {
  const job_statistics all = gather(outcome.statistics);
  json total = json::object();
  json by_node = json::array();
  for (int node = 0; node < plan.nodes; ++node) by_node.push_back(nullptr);
  for (const auto& row : all.rows) {
    total[row.name] = row.total;
    for (std::size_t node = 0; node < row.by_node.size(); ++node)
      if (row.by_node[node]) by_node[node][row.name] = *row.by_node[node];
  }
  const json document = {{"command", plan.command},    {"nodes", plan.nodes}, {"exit_status", outcome.exit_status},
                         {"seconds", outcome.seconds}, {"total", total},      {"by_node", by_node}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace quire::bootstrap::launcher
