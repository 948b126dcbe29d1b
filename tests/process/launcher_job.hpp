// SPDX-License-Identifier: BSD-3-Clause
// Jobs of launcher_test, and what they say.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "command.hpp"

namespace quire::test {

using words = std::vector<std::string>;

/// quire run OPTIONS...
inline words job(words options) {
  options.insert(options.begin(), {QUIRE_TOOL, "run"});
  return options;
}

inline words lines_of(const std::string& text) {
  words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace quire::test
