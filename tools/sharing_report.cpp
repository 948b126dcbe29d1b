// SPDX-License-Identifier: BSD-3-Clause
#include "sharing_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "advice.hpp"
#include "object_names.hpp"
#include "source_lines.hpp"

namespace quire::tools {
namespace {

using sharing::sharing_kind;
using sharing::unit_use;

constexpr std::size_t most_shared = 10, most_nodes = 8, most_objects = 4;

struct finding {
  unit_use unit;
  sharing::verdict verdict{};
  std::string line{};  ///< of the program, which allocated something there
};

/// Units of which there is something to say. Static objects get their names.
std::vector<finding> findings_of(const bootstrap::launcher::job_statistics& all) {
  std::vector<finding> found;
  for (const unit_use& u : all.shared)
    if (auto v = sharing::judge(u); v.kind != sharing_kind::none) found.push_back({u, std::move(v)});
  std::vector<object_names::range> ranges;
  std::vector<std::vector<std::string>> stacks;
  for (const finding& f : found) {
    ranges.push_back({f.unit.data, f.unit.bytes});
    stacks.push_back(f.unit.calls);
  }
  const object_names names(ranges);
  const source_lines lines(stacks);
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto objects = names.all_in(ranges[i], found[i].unit.address);
    std::move(objects.begin(), objects.end(), std::back_inserter(found[i].unit.objects));
    found[i].line = lines.own_line(stacks[i]);
    if (found[i].line.starts_with("the stack of"))
      for (sharing::object& o : found[i].unit.objects)
        if (o.name.empty()) o.name = found[i].line;
  }
  return found;
}

std::string kind_text(sharing_kind kind) {
  switch (kind) {
    case sharing_kind::falsely:
      return "false sharing";
    case sharing_kind::truly:
      return "true sharing";
    case sharing_kind::both:
      return "false and true sharing";
    case sharing_kind::none:
      break;
  }
  return "no sharing";
}

/// "writes line 3 (bytes 192-199)": bytes, as long as they are few pieces.
std::string spots_text(const sharing::spots& s, const unit_use& unit) {
  constexpr int few = 3;
  const auto several = [](const sharing::line_mask& mask) { return mask.count() > 1 ? "s" : ""; };
  const sharing::line_mask written = sharing::lines_of(s.written), read = s.read & ~written;
  std::string text;
  if (written.any()) {
    const std::string bytes = sharing::ranges_of(s.written, sharing::word_bytes(unit.bytes));
    text += fmt::format("writes line{} {}", several(written), sharing::ranges_of(written));
    if (std::ranges::count(bytes, ',') < few) text += fmt::format(" (bytes {})", bytes);
  }
  if (read.any())
    text += fmt::format("{}reads line{} {}", text.empty() ? "" : ", ", several(read), sharing::ranges_of(read));
  return text;
}

std::string object_text(const sharing::object& o, const unit_use& unit) {
  const std::string where =
      o.address < unit.address ? fmt::format("byte {} of ", unit.address - o.address) : std::string();
  if (o.name.empty()) return fmt::format("{}a block of {} at 0x{:x}", where, size_text(o.bytes), o.address);
  return fmt::format("{}{} ({} at 0x{:x})", where, o.name, size_text(o.bytes), o.address);
}

/// What lies there.
std::string objects_text(const unit_use& unit, const sharing::word_mask& parts) {
  const auto objects = sharing::objects_in(unit, parts);
  if (objects.empty()) return {};
  const auto& first = objects[0];
  const bool alike =
      objects.size() > 1 && first.address >= unit.address &&
      std::ranges::all_of(objects, [&](const auto& o) { return o.name.empty() && o.bytes == first.bytes; });
  std::string text = alike ? fmt::format(": blocks of {} at ", size_text(first.bytes)) : ": ";
  for (std::size_t i = 0; i < std::min(objects.size(), most_objects); ++i) {
    if (i != 0) text += ", ";
    text += alike ? fmt::format("0x{:x}", objects[i].address) : object_text(objects[i], unit);
  }
  if (objects.size() > most_objects) text += fmt::format(" and {} more", objects.size() - most_objects);
  return text;
}

void print_unit(std::string& out, const finding& f, bool stock) {
  const unit_use& u = f.unit;
  const std::uint64_t each = sharing::line_bytes(u.bytes);
  fmt::format_to(std::back_inserter(out), "\n0x{:x} {}, {}, {}: {}\n", u.address,
                 u.region == 0 ? std::string("heap") : fmt::format("region {}", u.region), size_text(u.bytes),
                 u.release ? "release" : "sequential", kind_text(f.verdict.kind));
  fmt::format_to(std::back_inserter(out), "  it came back {} times, threads waited {} for it{}\n", f.verdict.switches,
                 time_text(f.verdict.ns),
                 each != 64 ? fmt::format("; lines of {} here", size_text(each)) : std::string());
  if (!f.line.empty()) out += "  allocated at " + f.line + '\n';
  std::size_t told = 0, more = 0;
  for (std::size_t i = 0; i < u.nodes.size(); ++i) {
    const sharing::spots& spots = f.verdict.of_nodes[i];
    if (spots.used().none()) continue;
    if (told++ >= most_nodes) {
      ++more;
      continue;
    }
    fmt::format_to(std::back_inserter(out), "  node {} {}{}\n", u.nodes[i].node, spots_text(spots, u),
                   objects_text(u, spots.used()));
  }
  if (more != 0) out += fmt::format("  and {} more nodes\n", more);
  out += "  What to do: " + sharing_advice(u, f.verdict, stock) + '\n';
}

}  // namespace

std::string sharing_report(const bootstrap::launcher::job_statistics& all, bool stock) {
  const auto found = findings_of(all);
  std::uint64_t ns = 0;
  std::size_t falsely = 0;
  for (const finding& f : found) {
    if (f.verdict.kind == sharing_kind::truly) continue;
    ++falsely;
    ns += f.verdict.ns;
  }
  std::string out;
  if (falsely == 0) {
    out = fmt::format(
        "quire: No false sharing: of {} units that moved between nodes none came back {} times or more to nodes that "
        "use different parts.\n",
        all.shared.size(), sharing::least_switches);
  } else {
    out = fmt::format(
        "quire: False sharing: on {} nodes use different parts; threads waited {} for {}. A line has 64 bytes. Seen is "
        "what a node touches "
        "first, each time that the unit has come, and what it has changed under release consistency.\n",
        falsely == 1 ? "1 unit" : fmt::format("{} units", falsely), time_text(ns), falsely == 1 ? "it" : "them");
  }
  if (all.sharing_told < all.nodes_told)
    out += fmt::format("quire: {} nodes did not say which lines they used.\n", all.nodes_told - all.sharing_told);
  for (std::size_t i = 0; i < std::min(found.size(), most_shared); ++i) print_unit(out, found[i], stock);
  if (found.size() > most_shared) out += fmt::format("\nand {} more units\n", found.size() - most_shared);
  return out;
}

}  // namespace quire::tools
