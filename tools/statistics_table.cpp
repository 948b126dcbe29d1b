// SPDX-License-Identifier: BSD-3-Clause
#include "statistics_table.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "advice.hpp"
#include "bootstrap/launcher/statistics.hpp"
#include "object_names.hpp"
#include "sharing_report.hpp"
#include "source_lines.hpp"

namespace quire::tools {
namespace {

using bootstrap::launcher::job_statistics;

constexpr int most_columns = 8;
constexpr std::size_t most_regions = 12, most_units = 10;

using row = std::vector<std::string>;

/// Numbers end below each other. `with_text`: the last column is text, and begins below each other.
void print(std::string& out, const std::vector<row>& rows, bool with_text = false) {
  std::vector<std::size_t> width(rows.front().size());
  for (const auto& cells : rows)
    for (std::size_t i = 0; i < cells.size(); ++i) width[i] = std::max(width[i], cells[i].size());
  for (const auto& cells : rows) {
    fmt::format_to(std::back_inserter(out), "{:<{}}", cells[0], width[0]);
    const std::size_t numbers = cells.size() - (with_text ? 1 : 0);
    for (std::size_t i = 1; i < numbers; ++i) fmt::format_to(std::back_inserter(out), "  {:>{}}", cells[i], width[i]);
    if (with_text) out += "  " + cells.back();
    out += '\n';
  }
}

/// Counters that are not zero; times in seconds.
void print_counters(std::string& out, const job_statistics& all, int nodes) {
  const bool columns = nodes <= most_columns;
  std::vector<row> rows{{"counter"}};
  if (columns)
    for (int node = 0; node < nodes; ++node) rows[0].push_back(fmt::format("node {}", node));
  rows[0].push_back("total");
  for (const auto& counter : all.rows) {
    const auto counted = [](const auto& value) { return value.value_or(0) != 0; };
    if (std::ranges::none_of(counter.by_node, counted)) continue;
    const bool is_time = counter.name.ends_with("_ns");
    const auto text = [&](std::int64_t value) {
      return is_time ? fmt::format("{:.3f}", static_cast<double>(value) / 1e9) : fmt::to_string(value);
    };
    row& cells = rows.emplace_back(row{is_time ? counter.name.substr(0, counter.name.size() - 2) + "s" : counter.name});
    if (columns)
      for (const auto& value : counter.by_node) cells.push_back(value ? text(*value) : "-");
    cells.push_back(text(counter.total));
  }
  print(out, rows);
}

double in_seconds(const timespec& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9; }

/// A file that was changed since the job began, as by a compiler, says nothing of the addresses in it: without those,
/// and a line for each.
std::string forget_changed(job_statistics& all, double seconds) {
  timespec now{};
  (void)::clock_gettime(CLOCK_REALTIME, &now);
  std::map<std::string, bool> changed;
  const auto is_changed = [&](const std::string& place) {
    const auto [at, is_new] = changed.try_emplace(place.substr(0, place.rfind("+0x")), false);
    struct stat about {};
    if (is_new && ::stat(at->first.c_str(), &about) == 0)
      at->second = in_seconds(about.st_ctim) > in_seconds(now) - seconds;
    return at->second;
  };
  const auto forget = [&](auto& entries) {
    for (auto& one : entries) {
      if (!one.data.empty() && is_changed(one.data)) one.data.clear();
      if constexpr (requires { one.calls; }) std::erase_if(one.calls, is_changed);
    }
  };
  forget(all.regions);
  forget(all.units);
  forget(all.shared);
  std::string out;
  for (const auto& [file, is] : changed)
    if (is) out += fmt::format("quire: {} was changed while the job ran: no names are taken from it\n", file);
  return out;
}

/// "through shared memory"
std::string way_of(const job_statistics& all) {
  if (all.transport == "shm") return "through shared memory";
  return (all.transport == "tcp" ? "by TCP: " : "as UCX chooses: ") + all.transport_why;
}

std::string name_of(int region) { return region == 0 ? "heap" : fmt::format("region {}", region); }

/// Static objects in each of the regions, or units, of `bytes` each or of their own size.
template <class Entries>
std::vector<std::string> objects_of(const Entries& all, const auto& bytes_of) {
  std::vector<object_names::range> ranges;
  for (const auto& one : all) ranges.push_back({one.data, bytes_of(one)});
  const object_names known(ranges);
  std::vector<std::string> names;
  for (const auto& r : ranges) names.push_back(known.in(r));
  return names;
}

void print_regions(std::string& out, const job_statistics& all) {
  const auto names = objects_of(all.regions, [](const auto& r) { return r.bytes; });
  out += '\n';
  std::vector<row> rows{{"memory", "size", "unit", "consistency", "faults", "to write", "waited"}};
  const bool named = std::ranges::any_of(names, [](const std::string& n) { return !n.empty(); });
  if (named) rows[0].push_back("static objects");
  for (std::size_t i = 0; i < std::min(all.regions.size(), most_regions); ++i) {
    const auto& r = all.regions[i];
    rows.push_back({name_of(r.region), size_text(r.bytes), size_text(r.unit_bytes),
                    r.release ? "release" : "sequential", fmt::to_string(r.faults), fmt::to_string(r.writes),
                    time_text(r.ns)});
    if (named) rows.back().push_back(names[i].empty() ? "-" : names[i]);
  }
  print(out, rows, named);
  if (all.regions.size() > most_regions) out += fmt::format("and {} more regions\n", all.regions.size() - most_regions);
}

/// Where the program allocated each of the units, or which static objects lie there, as far as that is known.
std::vector<std::string> lines_of(const job_statistics& all) {
  std::vector<std::vector<std::string>> stacks;
  for (const auto& u : all.units) stacks.push_back(u.calls);
  const source_lines known(stacks);
  std::vector<std::string> lines;
  const auto unit_bytes = [&all](const auto& u) {
    const auto region = std::ranges::find_if(all.regions, [&u](const auto& r) { return r.region == u.region; });
    return region != all.regions.end() ? region->unit_bytes : 1;
  };
  const auto objects = objects_of(all.units, unit_bytes);
  for (std::size_t i = 0; i < stacks.size(); ++i)
    lines.push_back(objects[i].empty() ? known.own_line(stacks[i]) : objects[i]);
  return lines;
}

void print_units(std::string& out, const job_statistics& all, const std::vector<std::string>& where) {
  out += '\n';
  std::vector<row> rows{{"units waited for most", "faults", "to write", "waited", "nodes", "writers", "blocks",
                         "allocated at, or static objects"}};
  for (std::size_t i = 0; i < std::min(all.units.size(), most_units); ++i) {
    const auto& u = all.units[i];
    rows.push_back({fmt::format("0x{:x} {}", u.address, name_of(u.region)), fmt::to_string(u.faults),
                    fmt::to_string(u.writes), time_text(u.ns), fmt::to_string(u.nodes), fmt::to_string(u.writers),
                    u.blocks != 0 ? fmt::to_string(u.blocks) : "-", where[i].empty() ? "-" : where[i]});
  }
  print(out, rows, true);
}

}  // namespace

std::string statistics_table(const bootstrap::launcher::job_plan& plan, const bootstrap::launcher::job_outcome& outcome,
                             bool stock) {
  auto all = bootstrap::launcher::gather(outcome.statistics);
  std::string out =
      fmt::format("quire: {} nodes, {:.3f} s, exit status {}\n", plan.nodes, outcome.seconds, outcome.exit_status);
  if (all.nodes_told < plan.nodes)
    out += fmt::format("quire: {} of {} nodes gave no counters: they did not come to quire_end()\n",
                       plan.nodes - all.nodes_told, plan.nodes);
  if (!all.transport.empty()) out += "quire: messages between all nodes go " + way_of(all) + '\n';
  out += forget_changed(all, outcome.seconds);
  if (all.rows.empty()) return out;
  print_counters(out, all, plan.nodes);
  if (!all.regions.empty()) print_regions(out, all);
  const auto where = lines_of(all);
  if (!all.units.empty()) print_units(out, all, where);
  for (const auto& sentence : advice(all, plan.nodes, outcome.seconds, where, stock))
    out += "\nquire: " + sentence + '\n';
  if (all.sharing_told != 0) out += '\n' + sharing_report(all, stock);
  return out;
}

}  // namespace quire::tools
