// SPDX-License-Identifier: BSD-3-Clause
// Pieces of the JSON that a node tells at its end. Application threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "report/sites.hpp"

namespace quire::api {

/// As printf; 511 characters at most.
template <class... Values>
void append(std::string& to, const char* format, Values... values) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, format, values...);
  to.append(text, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof text) - 1)));
}

inline void append_text(std::string& to, const std::string& text) {
  to += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') to += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) to += c;
  }
  to += '"';
}

/// The entry of memory that is static data says so.
inline void append_static_place(std::string& to, std::uint64_t address) {
  const std::string place = sites::static_place(address);
  if (place.empty()) return;
  to += ",\"data\":";
  append_text(to, place);
}

}  // namespace quire::api
