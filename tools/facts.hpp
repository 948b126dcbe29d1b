// SPDX-License-Identifier: BSD-3-Clause
// What `quire info` finds out about this machine: a list of facts, each with a text for people and a value for
// programs. One file gathers one group of them; info.cpp prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/options.hpp"

namespace quire::tools {

struct fact {
  std::string name;              ///< for people
  std::string text;              ///< for people
  std::string key;               ///< in the JSON object of its group
  nlohmann::ordered_json value;  ///< in JSON
};

struct fact_group {
  std::string title;
  std::string key;
  std::vector<fact> facts;
};

[[nodiscard]] fact_group machine_facts();
[[nodiscard]] fact_group limit_facts();
[[nodiscard]] fact_group userfault_facts();
[[nodiscard]] fact_group transport_facts();
/// Which page pools there can be, and with which detectors.
[[nodiscard]] fact_group pool_facts(const base::option_values& options);
/// Which consistencies regions may have, and what goes with each.
[[nodiscard]] fact_group consistency_facts();
/// When threads that wait poll, give way and sleep.
[[nodiscard]] fact_group pace_facts();
/// What Quire will choose here with these options, and what does not work then.
[[nodiscard]] fact_group choice_facts(const base::option_values& options);

/// What jobs that were killed have left here.
[[nodiscard]] fact_group left_over_facts(const base::option_values& options);

/// First line of a small file such as those in /proc/sys; empty if it cannot be read.
[[nodiscard]] std::string read_line(const std::string& path);
/// "15.6 GiB"
[[nodiscard]] std::string bytes_text(double bytes);
[[nodiscard]] inline const char* yes_no(bool value) { return value ? "yes" : "no"; }

}  // namespace quire::tools
