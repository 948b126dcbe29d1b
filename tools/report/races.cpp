// SPDX-License-Identifier: BSD-3-Clause
#include "report/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "races/checker.hpp"
#include "report/job.hpp"

namespace quire::tools::report {
namespace {

using races::findings;

constexpr std::size_t most_told = 20;

/// Feeds the files of all nodes to the checker, a MiB at a time. An empty sentence: all was read.
std::string read_all(const std::string& directory, races::checker& into) {
  std::vector<std::ifstream> files;
  for (std::uint64_t node = 0; node < into.nodes(); ++node) {
    auto& file = files.emplace_back(directory + '/' + races::file_name(node), std::ios::binary);
    if (!file) into.end_of(node);
  }
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::uint64_t node = into.wants(); node < into.nodes(); node = into.wants()) {
    files[node].read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto bytes = std::as_bytes(std::span(buffer)).first(static_cast<std::size_t>(files[node].gcount()));
    if (bytes.empty()) {
      into.end_of(node);
    } else if (!into.feed(node, bytes)) {
      return fmt::format("{}/{} is no record of intervals, or of another job, or damaged", directory,
                         races::file_name(node));
    }
  }
  return {};
}

place place_of(const races::side& s) { return {s.node, {s.at.from.begin(), s.at.from.end()}}; }

std::string side_text(const races::side& s, const std::string& line) {
  constexpr std::uint64_t none = 0xffff'ffff;  // of threads that quire_thread() has not numbered
  return s.at.from[0] == 0 || s.at.thread == none
             ? fmt::format("  node {}: {}\n", s.node, line)
             : fmt::format("  node {}, thread {}: {}\n", s.node, s.at.thread, line);
}

std::string plural(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void add_races(const job& all, const findings& f, std::string& text) {
  std::vector<place> places;
  for (const auto& r : f.races) {
    places.push_back(place_of(r.first));
    places.push_back(place_of(r.second));
  }
  const auto lines = lines_at(all, places);
  for (std::size_t i = 0; i < std::min(f.races.size(), most_told); ++i) {
    const auto& r = f.races[i];
    text += fmt::format("data race: nodes {} and {} wrote the same {} of {} without order\n", r.first.node,
                        r.second.node, plural(r.bytes, "byte"), place_name(all, r.address, r.bytes));
    text += side_text(r.first, lines[2 * i]) + side_text(r.second, lines[2 * i + 1]);
    if (r.times > 1 || r.last >= r.address + r.bytes)
      text += fmt::format("  {} in all, up to {}\n", plural(r.times, "time"), place_name(all, r.last, 1));
  }
  if (f.races.size() > most_told) text += fmt::format("and {} more\n", f.races.size() - most_told + f.races_left_out);
}

void add_broken(const job& all, const findings& f, std::string& text) {
  std::vector<place> places;
  for (const auto& b : f.broken) {
    places.push_back(place_of(b.writer));
    places.push_back(place_of(b.reader));
  }
  const auto lines = lines_at(all, places);
  for (std::size_t i = 0; i < std::min(f.broken.size(), most_told); ++i) {
    const auto& b = f.broken[i];
    text += fmt::format(
        "broken promise: node {} had heard of interval {} of node {}, and began to write {} on content that lacks what "
        "was written there; this is an error of Quire\n",
        b.reader.node, b.interval, b.writer.node, place_name(all, b.address, 1));
    text += side_text(b.writer, lines[2 * i]) + side_text(b.reader, lines[2 * i + 1]);
  }
}

}  // namespace

checked check_races(const std::string& directory, std::string& text) {
  job all;
  if (!read_records(directory, all, text)) return checked::failed;
  races::checker checker(all.size);
  text = read_all(directory, checker);
  if (!text.empty()) return checked::failed;
  const findings& f = checker.found();
  const bool clean = f.races.empty() && f.broken.empty();
  if (!clean) explain(all);
  add_races(all, f, text);
  add_broken(all, f, text);
  for (const std::uint64_t node : f.cut)
    text += fmt::format("the record of node {} has no end: what comes after it was not looked at\n", node);
  text += fmt::format("{}{}{} compared in {}\n",
                      f.races.empty() ? "no data race between nodes" : plural(f.races.size(), "data race"),
                      f.broken.empty() ? ": " : fmt::format(", {}: ", plural(f.broken.size(), "broken promise")),
                      plural(f.writes, "page write"), plural(f.intervals, "interval"));
  if (f.unseen != 0)
    text += fmt::format(
        "{} may have been written by two nodes without order: one of them had had {} for itself, and nobody looked "
        "when "
        "it wrote, and where. --check=exact looks at these, too, and takes longer\n",
        plural(f.unseen, "page"), f.unseen == 1 ? "it" : "them");
  if (f.forgotten != 0)
    text += fmt::format(
        "{} forgotten before all nodes had heard of it: a page has {} at most that are compared. More barriers, or "
        "fewer locks, keep them fewer\n",
        f.forgotten == 1 ? "1 page write was" : fmt::format("{} page writes were", f.forgotten),
        races::checker::most_writes_of_a_page);
  if (f.writes == 0)
    text +=
        "nothing was written in memory with release consistency, and no other is looked at: --memory mixed gives it "
        "to arrays of a program as it is\n";
  return clean ? checked::clean : checked::found;
}

checked tell_races(const std::string& directory, const char* command) {
  std::string text;
  const checked what = check_races(directory, text);
  if (what == checked::failed) {
    fmt::print(stderr, "{}: no check: {}\n", command, text);
    return what;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    fmt::print(stderr, "{}: {}\n", command, std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return what;
}

}  // namespace quire::tools::report
