// SPDX-License-Identifier: BSD-3-Clause
#include "predict/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "predict/page_parts.hpp"
#include "report/json_text.hpp"

namespace quire::tools::predict {
namespace {

template <class Row, class Text>
std::string list_of(const Row& row, const Text& text) {
  std::string out;
  for (const auto& one : row) out += (out.empty() ? "" : ",") + text(one);
  return "[" + out + "]";
}

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string point_text(const outcome& o) {
  const shares s = shares_of(o);
  return fmt::format(
      R"({{"seconds":{:.6g},"work_seconds":{:.6g},"work":{:.1f},"faults":{:.1f},"barriers":{:.1f},"locks":{:.1f},)"
      R"("other":{:.1f}}})",
      o.ns / 1e9, o.work_ns / 1e9, s.work, s.faults, s.barriers, s.locks, s.other);
}

std::string entry_text(const page_entry& e) {
  const double likely = std::max(1.0, e.told.likely.ns);
  return fmt::format(R"({{"nodes":{},"least_factor":{:.4f},"most_factor":{:.4f},"grid":{}}})", e.told.nodes,
                     e.told.least.ns / likely, e.told.most.ns / likely,
                     list_of(e.grid, [](const auto& row) { return list_of(row, point_text); }));
}

}  // namespace

std::vector<std::vector<outcome>> grid_of(const std::vector<node_events>& job, const hardware& on) {
  std::vector<std::vector<outcome>> grid;
  for (const double latency : grid_latencies_us) {
    auto& row = grid.emplace_back();
    for (const double megabytes : grid_megabytes) {
      hardware other = on;
      other.net.latency_ns = latency * 1e3;
      other.net.bytes_a_second = megabytes * 1e6;
      row.push_back(replay(job, other, order::likely));
    }
  }
  return grid;
}

std::string page(const std::vector<page_entry>& all, const network& net, const std::string& command,
                 const std::vector<std::string>& reasons) {
  const double megabytes = net.bytes_a_second > 0 ? net.bytes_a_second / 1e6 : grid_megabytes.back();
  const bool was_cut = std::ranges::any_of(all, [](const page_entry& e) { return e.told.was_cut; });
  const std::string told = list_of(reasons, [](const auto& one) { return report::json_text(one); });
  const std::string data = fmt::format(
      R"({{"command":{},"reasons":{},"was_cut":{},"network":{{"latency_us":{:.6g},"megabytes_a_second":{:.6g}}},)"
      R"("latencies_us":{},"megabytes_a_second":{},"predictions":{}}})",
      report::json_text(command), told, was_cut, std::max(net.latency_ns / 1e3, grid_latencies_us.front()), megabytes,
      list_of(grid_latencies_us, number_text), list_of(grid_megabytes, number_text), list_of(all, entry_text));
  std::string out = page_frame;
  const auto put = [&out](std::string_view mark, std::string_view content) {
    out.replace(out.find(mark), mark.size(), content);
  };
  put("/*SCRIPT*/", page_script);
  put("/*DATA*/", data);
  return out;
}

}  // namespace quire::tools::predict
