// SPDX-License-Identifier: BSD-3-Clause
#include "object_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "command_lines.hpp"

namespace quire::tools {
namespace {

/// A file, and a place in it.
std::pair<std::string, std::uint64_t> split(const std::string& place) {
  const std::size_t plus = place.rfind("+0x");
  if (plus == std::string::npos) return {};
  return {place.substr(0, plus), std::strtoull(place.c_str() + plus + 1, nullptr, 16)};
}

}  // namespace

object_names::object_names(std::span<const range> ranges) {
  for (const range& r : ranges) {
    const std::string file = split(r.place).first;
    if (file.empty() || by_file_.contains(file)) continue;
    auto& objects = by_file_[file];
    // "0000000000004040 0000000000000010 B name"
    for (const std::string& line : lines_of("nm -SC --defined-only " + quoted(file) + " 2>/dev/null")) {
      char* at = nullptr;
      object one{std::strtoull(line.c_str(), &at, 16), 0, {}};
      one.bytes = std::strtoull(at, &at, 16);
      const std::string_view rest(at);
      if (one.bytes == 0 || rest.size() < 4 || std::string_view("bBdDuVv").find(rest[1]) == std::string_view::npos)
        continue;
      one.name = rest.substr(3);
      objects.push_back(std::move(one));
    }
    std::stable_sort(objects.begin(), objects.end(),
                     [](const object& a, const object& b) { return a.bytes > b.bytes; });
  }
}

namespace {

/// A template's name may take lines: its beginning and its end say enough.
std::string shortened(const std::string& name) {
  constexpr std::size_t most = 60, end = 24;
  if (name.size() <= most) return name;
  return name.substr(0, most - end - 3) + "..." + name.substr(name.size() - end);
}

}  // namespace

std::string object_names::in(const range& r) const {
  constexpr std::size_t most = 4;
  const auto [file, first] = split(r.place);
  const auto found = by_file_.find(file);
  if (found == by_file_.end()) return {};
  std::vector<std::string> names;
  std::size_t more = 0;
  for (const object& o : found->second) {
    if (o.first >= first + r.bytes || first >= o.first + o.bytes) continue;
    if (names.size() < most) {
      names.push_back(shortened(o.name));
    } else {
      ++more;
    }
  }
  return more == 0 ? fmt::format("{}", fmt::join(names, ", "))
                   : fmt::format("{} and {} more", fmt::join(names, ", "), more);
}

std::vector<sharing::object> object_names::all_in(const range& r, std::uint64_t address) const {
  std::vector<sharing::object> all;
  const auto [file, first] = split(r.place);
  const auto found = by_file_.find(file);
  if (found == by_file_.end()) return all;
  for (const object& o : found->second)
    if (o.first < first + r.bytes && first < o.first + o.bytes)
      all.push_back({address + o.first - first, o.bytes, o.name});
  return all;
}

}  // namespace quire::tools
