// SPDX-License-Identifier: BSD-3-Clause
// quire_model: messages, bytes, time and speed-up of access patterns on 1 to 1,024 nodes, by the real protocols in
// virtual time. Prints a table, or a line of JSON for each run; model.py makes a plot of it.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "model/settings.hpp"

namespace {

using quire::timed::outcome;

struct row {
  std::string application, consistency;
  outcome found;
  double speed_up = 1;

  [[nodiscard]] double seconds() const { return static_cast<double>(found.time) * 1e-9; }
  [[nodiscard]] double efficiency() const { return speed_up / found.nodes; }
};

void print_header() {
  std::printf("%-9s %-13s %6s %12s %16s %12s %12s %12s %9s %11s\n", "app", "consistency", "nodes", "messages", "bytes",
              "read faults", "write faults", "time, s", "speed-up", "efficiency");
}

void print(const row& r) {
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  const outcome& f = r.found;
  std::printf("%-9s %-13s %6u %12llu %16llu %12llu %12llu %12.6f %9.2f %11.4f\n", r.application.c_str(),
              r.consistency.c_str(), f.nodes, number(f.messages), number(f.bytes), number(f.read_faults),
              number(f.write_faults), r.seconds(), r.speed_up, r.efficiency());
  std::fflush(stdout);
}

/// One object, in one line. The names are those of the applications' own reports.
void print_json(const row& r, const bench::model::settings& wanted) {
  const outcome& f = r.found;
  const auto text = [](const char* name, const std::string& value) {
    std::printf("\"%s\": \"%s\", ", name, value.c_str());
  };
  const auto whole = [](const char* name, std::uint64_t n) {
    std::printf("\"%s\": %llu, ", name, static_cast<unsigned long long>(n));
  };
  std::printf("{");
  text("application", r.application);
  text("consistency", r.consistency);
  if (r.consistency == "transactional") text("commit", wanted.node.commit->name);
  text("network", wanted.network);
  std::printf("\"prices\": {");
  const char* separator = "";
  for (const auto& price : quire::timed::price_options()) {
    std::string name = price.name + 2;  // an option without its dashes
    std::ranges::replace(name, '-', '_');
    std::printf("%s\"%s\": %llu", separator, name.c_str(),
                static_cast<unsigned long long>(wanted.node.costs.*price.value));
    separator = ", ";
  }
  std::printf("}, ");
  whole("nodes", f.nodes);
  whole("messages", f.messages);
  whole("bytes", f.bytes);
  whole("read_faults", f.read_faults);
  whole("write_faults", f.write_faults);
  std::printf("\"counters\": {");
  separator = "";
  for (std::size_t i = 0; i < f.counters.size(); ++i) {
    std::printf("%s\"%s\": %llu", separator, quire::core::counter_table[i].name,
                static_cast<unsigned long long>(f.counters[i]));
    separator = ", ";
  }
  std::printf("}, ");
  std::printf("\"time_s\": %.9f, \"speed_up\": %.6g, \"efficiency\": %.6g}\n", r.seconds(), r.speed_up, r.efficiency());
  std::fflush(stdout);
}

/// Of each figure by itself.
outcome median_of(std::vector<outcome> all) {
  outcome middle = all.front();
  const auto median = [&](auto&& part) {
    std::vector<std::uint64_t> values;
    for (outcome& one : all) values.push_back(part(one));
    std::ranges::sort(values);
    part(middle) = values[values.size() / 2];
  };
  for (const auto part : {&outcome::time, &outcome::messages, &outcome::bytes, &outcome::read_faults,
                          &outcome::write_faults, &outcome::events})
    median([&](outcome& o) -> std::uint64_t& { return o.*part; });
  for (std::size_t i = 0; i < middle.counters.size(); ++i)
    median([&](outcome& o) -> std::uint64_t& { return o.counters[i]; });
  return middle;
}

void run(const bench::model::settings& wanted, const std::string& application, const std::string& consistency) {
  quire::timed::node_options options = wanted.node;
  options.relaxed = consistency == "release";
  const auto on = [&](unsigned nodes) {
    options.nodes = nodes;
    std::vector<outcome> found;
    for (unsigned i = 0; i < wanted.runs; ++i, ++options.seed)
      found.push_back(run_job(options, wanted.pattern_of(application, nodes, consistency == "transactional")));
    return median_of(std::move(found));
  };
  const outcome alone = on(1);
  for (const unsigned nodes : wanted.nodes) {
    row r{application, consistency, nodes == 1 ? alone : on(nodes)};
    if (r.found.time != 0) r.speed_up = static_cast<double>(alone.time) / static_cast<double>(r.found.time);
    wanted.json ? print_json(r, wanted) : print(r);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = bench::model::parse(argc, argv);
  if (!wanted.json) print_header();
  for (const auto& application : wanted.applications) {
    for (const auto& consistency : wanted.consistencies) run(wanted, application, consistency);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "quire_model: %s\n", e.what());
  return 1;
}
