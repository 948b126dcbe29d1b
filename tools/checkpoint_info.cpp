// SPDX-License-Identifier: BSD-3-Clause
// `quire info --checkpoint DIRECTORY`: what is in the checkpoints of a directory, and whether they are whole:
// everything is read and compared with its checksums, as quire_restore() does. Exit status 1 if the newest is not, or
// there is none.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "checkpoint/store.hpp"
#include "checkpoint_info.hpp"

namespace quire::tools {
namespace {

using json = nlohmann::ordered_json;

const char* const consistencies[] = {"sequential", "release"};
const char* const placements[] = {"block", "modulo", "node", "first touch"};

template <std::size_t N>
const char* word(const char* const (&words)[N], std::uint64_t which) {
  return which < N ? words[which] : "unknown";
}

/// A name may hold anything.
std::string printable(const std::string& name) {
  std::string text;
  for (const unsigned char c : name)
    text += c >= ' ' && c < 127 ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  return text;
}

std::uint64_t content_of(const checkpoint::manifest& m) {
  std::uint64_t bytes = 0;
  for (const auto& f : m.files) bytes += f.content_bytes;
  return bytes;
}

/// What a checkpoint has of a container.
std::string kept_as(const checkpoint::container_row& c) {
  switch (c.where) {
    case checkpoint::container_row::content::region:
      return "in memory";
    case checkpoint::container_row::content::linker:
      return fmt::format("read-only, {} bytes", c.bytes);
    case checkpoint::container_row::content::copy:
      return fmt::format("a copy of {} bytes", c.bytes);
    case checkpoint::container_row::content::pages:
      return "page by page";
  }
  return "unknown";
}

json as_json_of(const std::string& directory, const checkpoint::manifest& m, const checkpoint::outcome& state) {
  json all = {{"directory", directory}, {"whole", state.ok()}, {"why", state.text}};
  if (m.files.empty()) return all;
  all["generation"] = m.what.generation;
  all["written_s"] = m.written_s;
  all["nodes"] = m.files.size();
  all["content_bytes"] = content_of(m);
  all["base"] = m.base;
  all["range_bytes"] = m.range_bytes;
  for (const auto& r : m.regions) {
    all["regions"].push_back({{"id", r.id},
                              {"base", r.base},
                              {"bytes", r.bytes},
                              {"unit_bytes", r.unit_bytes},
                              {"views", r.views},
                              {"consistency", word(consistencies, r.consistency)},
                              {"placement", word(placements, r.placement)}});
  }
  for (const auto& [name, value] : m.names) all["names"].push_back({{"name", printable(name)}, {"value", value}});
  for (const auto& c : m.containers) {
    all["containers"].push_back({{"name", printable(c.name)},
                                 {"linker", printable(c.linker)},
                                 {"what", printable(c.what)},
                                 {"content", kept_as(c)}});
  }
  return all;
}

void print(const std::string& directory, const checkpoint::manifest& m, const checkpoint::outcome& state) {
  fmt::print("{}\n", directory);
  fmt::print("  {}\n", state.ok() ? "whole: all checksums are right" : "DAMAGED: " + state.text);
  if (m.files.empty()) return;
  fmt::print("  written {:%Y-%m-%d %H:%M:%S} UTC by {} node{}, {:.1f} MiB of content\n",
             fmt::gmtime(static_cast<std::time_t>(m.written_s)), m.files.size(), m.files.size() == 1 ? "" : "s",
             static_cast<double>(content_of(m)) / (1 << 20));
  fmt::print("  QUIRE_BASE=0x{:x} QUIRE_RANGE={}M QUIRE_UNIT={}K\n", m.base, m.range_bytes >> 20,
             m.regions.front().unit_bytes >> 10);
  for (const auto& r : m.regions) {
    const std::string units = r.unit_bytes < 4096 ? fmt::format("{} bytes", r.unit_bytes)
                              : r.views != 0      ? fmt::format("an object each, in {} fine views", r.views)
                                                  : fmt::format("{} KiB", r.unit_bytes >> 10);
    fmt::print("  region {:<4} at 0x{:x}, {} KiB in units of {}, {}, placed by {}{}\n", r.id, r.base, r.bytes >> 10,
               units, word(consistencies, r.consistency), word(placements, r.placement),
               r.id == 0 || (r.id == 1 && m.heap_views != 0) ? " (quire_malloc)" : "");
  }
  for (const auto& [name, value] : m.names) fmt::print("  name {:<16} 0x{:x}\n", printable(name), value);
  for (const auto& c : m.containers)
    fmt::print("  container {:<11} {}{}{}\n", printable(c.name), printable(c.what), c.what.empty() ? "" : ": ",
               kept_as(c));
}

}  // namespace

int checkpoint_info(const std::string& path, bool as_json) {
  std::vector<std::uint64_t> numbers;
  const checkpoint::outcome listed = checkpoint::list_generations(path, numbers);
  if (!listed.ok() || numbers.empty()) {
    fmt::print(stderr, "quire info: {}\n", listed.ok() ? path + " has no checkpoint" : listed.text);
    return 1;
  }
  json all = json::array();
  bool newest_is_whole = false;
  for (const std::uint64_t number : numbers) {
    const std::string directory = checkpoint::generation_path(path, number);
    checkpoint::opened whole;
    checkpoint::outcome state = whole.open(directory);
    if (state.ok()) state = checkpoint::verify(whole);
    if (number == numbers.front()) newest_is_whole = state.ok();
    if (as_json) {
      all.push_back(as_json_of(directory, whole.about(), state));
    } else {
      print(directory, whole.about(), state);
    }
  }
  if (as_json) fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  return newest_is_whole ? 0 : 1;
}

}  // namespace quire::tools
