// SPDX-License-Identifier: BSD-3-Clause
// The page: its frame and its script stand in page.html and page.js, and are part of the command. What they show is one
// JSON text within the page. However long the job was, the page stays below 5 MB: segments and bins are merged until
// they fit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "advice.hpp"
#include "report/job.hpp"
#include "report/json_text.hpp"
#include "report/page_parts.hpp"

namespace quire::tools::report {
namespace {

constexpr std::size_t most_segments = 40'000;  ///< of all threads together
constexpr std::size_t most_maps = 8, most_rows = 256, most_columns = 512, most_lines = 200, most_findings = 50,
                      most_names = 1000;

/// [a,b,c] of what `text` makes of each.
template <class All, class F>
std::string list(const All& all, F&& text, std::size_t most = ~std::size_t{0}) {
  std::string out = "[";
  std::size_t count = 0;
  for (const auto& one : all) {
    if (count == most) break;
    if (count++ != 0) out += ',';
    out += text(one);
  }
  return out + "]";
}
const auto as_number = [](std::uint64_t n) { return std::to_string(n); };
std::string times_text(const record::wait_times& ns) { return list(ns, as_number); }

std::string sums_text(const record::file_sums& s) {
  return fmt::format(R"("reads":{},"writes":{},"read_ns":{},"write_ns":{})", s.faults[0], s.faults[1], s.ns[0],
                     s.ns[1]);
}

/// [end in us, phase, waits in us ...] each.
std::string segments_text(const record::file_thread& t, std::uint64_t shift, std::size_t most) {
  std::vector<record::segment> memory(std::max<std::size_t>(most, 16));
  record::segments fewer(memory, t.begin_ns);
  for (const record::segment& s : t.segments) fewer.add(s);
  constexpr std::uint64_t us = 1000;
  return list(fewer.all(), [&](const record::segment& s) {
    std::string text = fmt::format("[{},{}", (s.end_ns + shift) / us, s.phase);
    for (const std::uint64_t ns : s.waited_ns) text += fmt::format(",{:.3g}", static_cast<double>(ns) / us);
    return text + "]";
  });
}

std::string thread_text(const record::file_thread& t, std::uint64_t shift, std::size_t most) {
  record::wait_times sums{};
  for (const auto& s : t.segments)
    for (std::size_t i = 0; i < record::waits; ++i) sums[i] += s.waited_ns[i];
  return fmt::format(
      R"({{"number":{},"begin":{},"ns":{},"waits":{},"phases":{},"segments":{}}})", t.number,
      (t.begin_ns + shift) / 1000, t.segments.empty() ? 0 : t.segments.back().end_ns - t.begin_ns, times_text(sums),
      list(t.phases, [](const auto& p) { return fmt::format("[{},{},{}]", p.phase, p.ns, times_text(p.waited_ns)); }),
      segments_text(t, shift, most));
}

std::string node_text(const job& all, const record::node_record& r, std::size_t segments_a_thread) {
  const std::uint64_t shift = shift_of(all, r);
  return fmt::format(
      R"({{"node":{},"host":{},"ns":{},"untimed":{},"rest":{},"phases":{},"threads":{},"peers":{},"counters":{}}})",
      r.node, json_text(r.host), r.ns, r.untimed != 0, times_text(r.rest_ns), list(r.phases, json_text),
      list(r.threads, [&](const auto& t) { return thread_text(t, shift, segments_a_thread); }),
      list(r.peers, [](const auto& p) { return fmt::format("[{},{}]", p.messages, p.bytes); }),
      list(r.counters, [](const auto& c) { return fmt::format("[{},{}]", json_text(c.name), c.value); }));
}

// ---- Heat
// ---------------------------------------------------------------------------------------------------------------

/// Bins of one region, of all nodes.
struct joint_map {
  struct cell {
    std::uint64_t count = 0, most = 0, node = 0;  ///< `most`: of one node, which is `node`
  };
  std::uint64_t region = 0, piece = 0, column_ns = 0, faults = 0;
  std::map<std::uint64_t, std::map<std::uint64_t, cell>> rows{};  ///< by piece, by column
};

/// Coarser until it fits, with the bins of all nodes in it.
joint_map join(const job& all, std::uint64_t region, std::uint64_t piece, std::uint64_t column_ns) {
  joint_map map{region, piece, column_ns};
  for (const auto& r : all.nodes) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> of_node;
    for (const auto& h : r.heats) {
      if (h.region != region) continue;
      for (const auto& row : h.rows)
        for (std::size_t i = 0; i < row.columns.size(); i += 2)
          of_node[{row.address / piece, (row.columns[i] * h.column_ns + shift_of(all, r)) / column_ns}] +=
              row.columns[i + 1];
    }
    for (const auto& [at, count] : of_node) {
      joint_map::cell& c = map.rows[at.first][at.second];
      c.count += count;
      map.faults += count;
      if (count > c.most) c.most = count, c.node = r.node;
    }
  }
  return map;
}

joint_map fitting_map(const job& all, std::uint64_t region) {
  std::uint64_t piece = 1, column_ns = 1, end_ns = 1;
  std::set<std::uint64_t> addresses;
  for (const auto& r : all.nodes) {
    for (const auto& h : r.heats) {
      if (h.region != region) continue;
      piece = std::max(piece, h.piece_bytes);
      column_ns = std::max(column_ns, h.column_ns);
      for (const auto& row : h.rows) {
        addresses.insert(row.address);
        for (std::size_t i = 0; i < row.columns.size(); i += 2)
          end_ns = std::max(end_ns, (row.columns[i] + 1) * h.column_ns + shift_of(all, r));
      }
    }
  }
  const auto rows = [&] {
    std::set<std::uint64_t> pieces;
    for (const std::uint64_t a : addresses) pieces.insert(a / piece);
    return pieces.size();
  };
  while (rows() > most_rows) piece *= 2;
  while (end_ns / column_ns + 1 > most_columns) column_ns *= 2;
  return join(all, region, piece, column_ns);
}

std::string base64(const std::string& bytes) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

/// Two bytes a bin: how many faults, as 1 + 8 log2; and which node had most of them.
std::string map_text(const job& all, const joint_map& map) {
  std::uint64_t columns = 0;
  for (const auto& [piece, cells] : map.rows)
    columns = std::max(columns, cells.empty() ? 0 : cells.rbegin()->first + 1);
  std::string bins(map.rows.size() * columns * 2, '\0'), addresses;
  std::size_t row = 0;
  for (const auto& [piece, cells] : map.rows) {
    addresses += fmt::format("{}[\"0x{:x}\",{}]", row == 0 ? "" : ",", piece * map.piece,
                             json_text(place_name(all, piece * map.piece, map.piece)));
    for (const auto& [column, c] : cells) {
      const std::size_t at = (row * columns + column) * 2;
      bins[at] = static_cast<char>(std::min(255.0, 1 + 8 * std::log2(static_cast<double>(c.count))));
      bins[at + 1] = static_cast<char>(c.node % 256);
    }
    ++row;
  }
  return fmt::format(R"({{"region":{},"piece":{},"column_us":{},"columns":{},"faults":{},"rows":[{}],"bins":"{}"}})",
                     map.region, map.piece, map.column_ns / 1000.0, columns, map.faults, addresses, base64(bins));
}

std::string maps_text(const job& all) {
  std::set<std::uint64_t> regions;
  for (const auto& r : all.nodes)
    for (const auto& h : r.heats) regions.insert(h.region);
  std::vector<joint_map> maps;
  for (const std::uint64_t region : regions) maps.push_back(fitting_map(all, region));
  std::ranges::stable_sort(maps, [](const joint_map& a, const joint_map& b) { return a.faults > b.faults; });
  return list(
      maps, [&](const joint_map& m) { return map_text(all, m); }, most_maps);
}

// ---- Sharing
// ------------------------------------------------------------------------------------------------------------

/// Ranges as they are, if they are few.
std::string short_ranges(const std::string& ranges) {
  constexpr std::size_t most = 8;
  const auto count = static_cast<std::size_t>(std::ranges::count(ranges, ',')) + 1;
  if (count <= most) return ranges;
  std::size_t end = 0;
  for (std::size_t i = 0; i < most; ++i) end = ranges.find(',', end) + 1;
  return fmt::format("{} and {} parts more", ranges.substr(0, end - 1), count - most);
}

std::string spots_text(const sharing::spots& s, const sharing::unit_use& unit) {
  const auto written = sharing::lines_of(s.written), read = s.read & ~written;
  std::string text;
  if (written.any())
    text = "writes bytes " + short_ranges(sharing::ranges_of(s.written, sharing::word_bytes(unit.bytes)));
  if (read.any())
    text += (text.empty() ? "reads bytes " : ", reads bytes ") +
            short_ranges(sharing::ranges_of(read, sharing::line_bytes(unit.bytes)));
  return text;
}

std::string name_of(const sharing::object& o) {
  return o.name.empty() ? fmt::format("a block of {}", size_text(o.bytes)) : o.name;
}

std::string use_text(const line_use& l) {
  return fmt::format(R"({{"line":{},{}}})", json_text(l.line), sums_text(l.sums));
}

std::string finding_text(const finding& f) {
  std::string users;
  for (std::size_t i = 0; i < f.unit.nodes.size(); ++i) {
    const auto& spots = f.verdict.of_nodes[i];
    if (spots.used().none()) continue;
    std::vector<std::string> objects;
    for (const auto& o : sharing::objects_in(f.unit, spots.used())) objects.push_back(name_of(o));
    constexpr std::size_t most = 4;
    users += fmt::format(R"({}{{"node":{},"what":{},"objects":{},"lines":{}}})", users.empty() ? "" : ",",
                         f.unit.nodes[i].node, json_text(spots_text(spots, f.unit)), list(objects, json_text, most),
                         list(f.lines[i], use_text, most));
  }
  return fmt::format(R"({{"name":{},"address":"0x{:x}","bytes":{},"release":{},"kind":"{}","likely":{},)"
                     R"("switches":{},"ns":{},"allocated":{},"advice":{},"users":[{}]}})",
                     json_text(f.name), f.unit.address, f.unit.bytes, f.unit.release,
                     f.verdict.kind == sharing::sharing_kind::both ? "both" : "false", f.likely, f.verdict.switches,
                     f.verdict.ns, json_text(f.allocated), json_text(sharing_advice(f.unit, f.verdict, f.stock)),
                     users);
}

}  // namespace

std::string page(const job& all) {
  std::size_t threads = 0;
  for (const auto& r : all.nodes) threads += r.threads.size();
  const std::size_t each = most_segments / std::max<std::size_t>(threads, 1);
  const std::string data =
      fmt::format(R"({{"program":{},"size":{},"kinds":["read fault","write fault","lock","barrier","other wait"],)"
                  R"("dead":{},"nodes":{},"maps":{},"lines":{},"sharing":{},"names":{}}})",
                  json_text(all.nodes.front().program), all.size, list(all.dead, as_number),
                  list(all.nodes, [&](const auto& r) { return node_text(all, r, each); }), maps_text(all),
                  list(all.lines, use_text, most_lines), list(all.shared, finding_text, most_findings),
                  list(
                      all.names,
                      [](const named_memory& n) {
                        return fmt::format(R"(["0x{:x}",{},{}])", n.address, n.bytes, json_text(n.name));
                      },
                      most_names));
  std::string out = page_frame;
  const auto put = [&out](std::string_view mark, std::string_view content) {
    out.replace(out.find(mark), mark.size(), content);
  };
  put("/*SCRIPT*/", page_script);
  put("/*DATA*/", data);
  return out;
}

}  // namespace quire::tools::report
