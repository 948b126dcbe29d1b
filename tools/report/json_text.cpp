// SPDX-License-Identifier: BSD-3-Clause
#include "report/json_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace quire::tools::report {

std::string json_text(std::string_view text) {
  std::string out;
  for (const char c : nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))
    out += c == '<' || c == '>' || c == '&' ? fmt::format("\\u{:04x}", static_cast<unsigned>(c)) : std::string(1, c);
  return out;
}

}  // namespace quire::tools::report
