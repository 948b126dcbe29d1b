// SPDX-License-Identifier: BSD-3-Clause
// Printing of results. Called once at the end of a run, on node 0.
#include "common/report.hpp"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace apps {
namespace {

std::string as_line(const report& r) {
  std::string line = fmt::format("{} ({}, {}): {} node{} x {} thread{}, set-up {:.3f} s, time {:.3f} s", r.program,
                                 r.variant, r.problem, r.nodes, r.nodes == 1 ? "" : "s", r.threads,
                                 r.threads == 1 ? "" : "s", r.set_up_s, r.time_s);
  for (const auto& [name, value] : r.values) line += fmt::format(", {} {}", name, value);
  if (r.checksum) line += fmt::format(", checksum {:016x}", *r.checksum);
  if (r.shared)
    line += fmt::format(", {} read faults, {} write faults, {} messages, {:.1f} MB", r.shared->read_faults,
                        r.shared->write_faults, r.shared->messages, static_cast<double>(r.shared->bytes) / 1e6);
  if (r.matches) line += (*r.matches ? ", equal to " : ", DIFFERS from ") + r.reference;
  return line;
}

std::string as_object(const report& r) {
  nlohmann::json json{{"program", r.program}, {"variant", r.variant}, {"problem", r.problem},
                      {"nodes", r.nodes},     {"threads", r.threads}, {"set_up_s", r.set_up_s},
                      {"time_s", r.time_s},   {"checksum", nullptr},  {"matches", nullptr}};
  for (const auto& [name, value] : r.values) json[name] = value;
  if (r.checksum) json["checksum"] = fmt::format("{:016x}", *r.checksum);
  if (r.matches) json["matches"] = *r.matches;
  if (r.shared) {
    json["read_faults"] = r.shared->read_faults;
    json["write_faults"] = r.shared->write_faults;
    json["messages"] = r.shared->messages;
    json["bytes"] = r.shared->bytes;
  }
  return json.dump();
}

}  // namespace

int print(const report& result, bool as_json) {
  fmt::print("{}\n", as_json ? as_object(result) : as_line(result));
  std::fflush(stdout);
  return result.matches.value_or(true) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace apps
