// SPDX-License-Identifier: BSD-3-Clause
// Options that do not go with one another: a row for each pair. docs/limits.md has the table for people, and
// tests/unit/option_rules_test.cpp compares.
#pragma once

#include <span>
#include <string>

#include "base/options.hpp"

namespace quire::base {

/// What a rule asks of an option's value.
struct option_state {
  enum class kind : int { is, set, unset };  ///< set: not the default
  option which;
  kind how = kind::set;
  std::int64_t value = 0;  ///< is
  [[nodiscard]] bool holds(const option_values& values) const;
  /// As people write it: "QUIRE_POOL=fork", "QUIRE_MOUNT", "no QUIRE_REPORT".
  [[nodiscard]] std::string text() const;
};

struct option_rule {
  option_state one, other;  ///< not both
  quire_status status;
  const char* why;  ///< a sentence, with what helps
};

[[nodiscard]] std::span<const option_rule> option_rules() noexcept;
/// The first rule that is broken; null: none is.
[[nodiscard]] const option_rule* broken_rule(const option_values& values);

}  // namespace quire::base
