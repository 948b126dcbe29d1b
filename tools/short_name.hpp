// SPDX-License-Identifier: BSD-3-Clause
// Names of functions as people read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace quire::tools {

namespace detail {
/// Where the bracket at `at` is closed; the last character if it is not.
inline std::size_t closing(const std::string& text, std::size_t at) {
  int open = 0;
  for (; at + 1 < text.size(); ++at) {
    open += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (open == 0) break;
  }
  return at;
}
}  // namespace detail

/// Without the arguments of templates and functions, which fill lines.
[[nodiscard]] inline std::string short_name(std::string function) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = function.find(unnamed)) != std::string::npos;) function.erase(at, unnamed.size());
  std::string out;
  int inside = 0;
  for (std::size_t at = 0; at < function.size(); ++at) {
    const char c = function[at];
    if (c == '(' && inside == 0) {
      at = detail::closing(function, at);
      if (out.ends_with("{lambda")) at = std::min(function.find('}', at), function.size()) - 1;  // "{lambda(int)#1}"
      // A function within the function may follow.
      else if (function.compare(at + 1, 2, "::") != 0)
        break;
      continue;
    }
    if (c == '<') ++inside;
    if (inside == 0) out += c;
    if (c == '>' && inside != 0) --inside;
  }
  if (out.ends_with("{lambda}::operator")) out.resize(out.rfind("::"));
  return out.empty() ? function : out;
}

}  // namespace quire::tools
