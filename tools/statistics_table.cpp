#include "statistics_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bootstrap/launcher/statistics.hpp"

namespace quire::tools {
namespace {

constexpr int most_columns = 8;

using row = std::vector<std::string>;

void print(std::string& out, const std::vector<row>& rows) {
  std::vector<std::size_t> width(rows.front().size());
  for (const auto& cells : rows)
    for (std::size_t i = 0; i < cells.size(); ++i) width[i] = std::max(width[i], cells[i].size());
  for (const auto& cells : rows) {
    fmt::format_to(std::back_inserter(out), "{:<{}}", cells[0], width[0]);
    for (std::size_t i = 1; i < cells.size(); ++i)
      fmt::format_to(std::back_inserter(out), "  {:>{}}", cells[i], width[i]);
    out += '\n';
  }
}

}  // namespace

std::string statistics_table(const bootstrap::launcher::job_plan& plan,
                             const bootstrap::launcher::job_outcome& outcome) {
  const auto all = bootstrap::launcher::gather(outcome.statistics);
  std::string out =
      fmt::format("quire: {} nodes, {:.3f} s, exit status {}\n", plan.nodes, outcome.seconds, outcome.exit_status);
  if (all.nodes_told < plan.nodes)
    out += fmt::format("quire: {} of {} nodes gave no counters: they did not come to quire_end()\n",
                       plan.nodes - all.nodes_told, plan.nodes);
  if (all.rows.empty()) return out;
  const bool columns = plan.nodes <= most_columns;
  std::vector<row> rows{{"counter"}};
  if (columns)
    for (int node = 0; node < plan.nodes; ++node) rows[0].push_back(fmt::format("node {}", node));
  rows[0].push_back("total");
  for (const auto& counter : all.rows) {
    row& cells = rows.emplace_back(row{counter.name});
    if (columns)
      for (const auto& value : counter.by_node) cells.push_back(value ? fmt::to_string(*value) : "-");
    cells.push_back(fmt::to_string(counter.total));
  }
  print(out, rows);
  return out;
}

}  // namespace quire::tools
