// SPDX-License-Identifier: BSD-3-Clause
#include "predict/reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "advisor/advisor.hpp"
#include "advisor/decide.hpp"
#include "report/job.hpp"

namespace quire::tools::predict {
namespace {

constexpr double little = 10;  // percent of the time of threads, of which nothing is said
constexpr std::size_t most_lines = 3, most_arrays = 3;

struct reason {
  const char* name;
  double shares::*share;
  const char* text;
};
constexpr reason reasons[] = {
    {"faults", &shares::faults, "threads wait for pages that other nodes have written"},
    {"barriers", &shares::barriers, "threads wait at barriers: work is uneven, or there is little of it between two"},
    {"locks", &shares::locks, "threads wait for locks"},
    {"other", &shares::other, "threads start late, or wait in other calls, as for one another's results"},
};

std::uint64_t all_ns(const record::file_sums& s) { return s.ns[0] + s.ns[1]; }

/// "grid" of "grid[128-191]" and of "grid+0x40".
std::string array_of(const std::string& place) { return place.substr(0, place.find_first_of("[+")); }

void add_lines(const report::job& all, std::uint64_t whole_ns, std::vector<std::string>& to) {
  for (const auto& one : all.lines) {
    if (to.size() == most_lines || whole_ns == 0 || all_ns(one.sums) * 20 < whole_ns) return;
    to.push_back(fmt::format("{} faults, {:.0f} % of the waiting for pages, at {}",
                             one.sums.faults[0] + one.sums.faults[1],
                             100.0 * static_cast<double>(all_ns(one.sums)) / static_cast<double>(whole_ns), one.line));
  }
}

void add_arrays(const report::job& all, std::uint64_t whole_ns, std::vector<std::string>& to) {
  std::map<std::string, std::uint64_t> of_arrays;
  for (const auto& r : all.nodes)
    for (const auto& t : r.threads)
      for (const auto& u : t.units)
        if (u.bytes != 0) of_arrays[array_of(report::place_name(all, u.address, u.bytes))] += all_ns(u.sums);
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [name, ns] : of_arrays)
    if (ns * 20 >= whole_ns && ns != 0) sorted.emplace_back(ns, name);
  std::ranges::sort(sorted, std::greater<>());
  if (sorted.size() > most_arrays) sorted.resize(most_arrays);
  for (const auto& [ns, name] : sorted)
    to.push_back(fmt::format("{:.0f} % of the waiting for pages is for {}",
                             100.0 * static_cast<double>(ns) / static_cast<double>(whole_ns), name));
}

}  // namespace

std::vector<std::string> what_stops(const std::vector<prediction>& all) {
  const shares last = shares_of(all.back().likely);
  const auto by_share = [&](const reason& r) { return last.*r.share; };
  const reason& most = *std::ranges::max_element(reasons, {}, by_share);
  if (by_share(most) < little)
    return {fmt::format("on {} nodes threads compute {:.0f} % of their time: more nodes may gain more",
                        all.back().nodes, last.work)};
  unsigned since = all.back().nodes;
  for (auto p = all.rbegin(); p != all.rend() && shares_of(p->likely).*most.share >= little; ++p) since = p->nodes;
  return {fmt::format("on {} nodes {:.0f} % of the time goes to {} (from {} nodes on more than {:.0f} %): {}",
                      all.back().nodes, by_share(most), most.name, since, little, most.text)};
}

std::vector<std::string> where_it_stops(const std::string& records, bool places_threads,
                                        std::span<const std::string> closed, std::vector<candidate>& worth_a_try,
                                        std::string& why) {
  report::job all;
  std::vector<std::string> said;
  if (!report::read_records(records, all, why)) return said;
  report::explain(all);
  std::uint64_t whole_ns = 0;
  for (const auto& one : all.lines) whole_ns += all_ns(one.sums);
  add_lines(all, whole_ns, said);
  add_arrays(all, whole_ns, said);
  const advisor::evidence told = advisor::evidence_of(all, places_threads);
  for (const auto& p : advisor::propose(told, closed)) {
    if (p.what.option == advisor::tuned_nodes) continue;  // the prediction has them
    const auto words = advisor::words_of(p.what);
    worth_a_try.push_back({words, p.why});
    said.push_back(fmt::format("try `quire run {} {}`, {}", words[0], words[1], p.why));
    if (p.what.option == advisor::tuned_memory)
      worth_a_try.push_back({{"--memory", "mixed"},
                             p.why,
                             "no two threads write a word without a lock, or what takes its place, between them "
                             "(quire run --check --memory mixed tells)"});
  }
  std::ranges::move(advisor::hints(told), std::back_inserter(said));
  return said;
}

}  // namespace quire::tools::predict
