// SPDX-License-Identifier: BSD-3-Clause
#include "advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace quire::tools {
namespace {

using bootstrap::launcher::job_statistics;
using bootstrap::launcher::waited_region;
using bootstrap::launcher::waited_unit;

std::uint64_t total(const job_statistics& all, const char* name) {
  for (const auto& row : all.rows)
    if (row.name == name) return static_cast<std::uint64_t>(std::max<std::int64_t>(row.total, 0));
  return 0;
}

const waited_region* region_of(const job_statistics& all, const waited_unit& u) {
  for (const auto& r : all.regions)
    if (r.region == u.region) return &r;
  return nullptr;
}

/// The line that allocated the units for which threads waited longest, of those that `counts`; empty if none is known.
template <class F>
std::string costliest_line(const job_statistics& all, const std::vector<std::string>& where, F&& counts) {
  std::map<std::string, std::uint64_t> ns;
  for (std::size_t i = 0; i < all.units.size(); ++i)
    if (counts(all.units[i]) && !where[i].empty()) ns[where[i]] += all.units[i].ns;
  const auto most =
      std::max_element(ns.begin(), ns.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most != ns.end() ? most->first : std::string{};
}

/// Of a program that knows nothing of Quire.
constexpr const char* stock_advice =
    "align and pad what threads write apart to pages (alignas(4096), aligned_alloc), have threads work on neighbours "
    "(schedule(static)), sum in private variables (reduction, private), or start it with --memory mixed, or auto, "
    "under "
    "which several nodes may write one page of a large array or block at a time";

/// Units that several nodes write in turn, each write with a fault.
std::string about_shared_writes(const job_statistics& all, const std::vector<std::string>& where,
                                std::uint64_t worth_ns, bool stock) {
  std::uint64_t ns = 0, units = 0, blocks = 0, block_bytes = 0, with_blocks = 0;
  const waited_region* region = nullptr;
  const auto counts = [](const waited_unit& u) { return u.writers > 1; };
  for (const auto& u : all.units) {
    if (!counts(u)) continue;
    ns += u.ns;
    ++units;
    if (region == nullptr) region = region_of(all, u);
    if (u.blocks > 1) blocks += u.blocks, block_bytes += u.block_bytes, ++with_blocks;
  }
  if (units == 0 || ns < worth_ns) return {};
  std::string text = units == 1 ? fmt::format("Several nodes write one unit: threads waited {} for it. ", time_text(ns))
                                : fmt::format("Several nodes write the same {} units: threads waited {} for them. ",
                                              units, time_text(ns));
  const std::string line = costliest_line(all, where, counts);
  if (!line.empty()) text += fmt::format("Most of that memory: {}. ", line);
  if (with_blocks != 0 && blocks >= 4 * with_blocks) {
    text += fmt::format(
        "A unit holds about {} blocks of {} bytes there, one after the other as they were allocated: blocks that are "
        "used under different locks, or by "
        "different nodes, lie on one unit, and it moves with each of them. Allocate what is used together from one "
        "aligned block of whole units",
        blocks / with_blocks, block_bytes / blocks);
  } else {
    text += "If nodes write different parts, put each part on units of its own";
  }
  if (stock) return text + ": " + stock_advice + ".";
  if (region != nullptr && !region->release)
    text += ", or use release consistency, under which several nodes may write one unit at a time";
  return text + ". Single words that all nodes count in: quire::atomic_ref.";
}

std::string about_reads(const job_statistics& all, const std::vector<std::string>& where, std::uint64_t worth_ns,
                        bool stock) {
  const auto read_only = [](const waited_unit& u) { return u.writers == 0; };
  std::uint64_t ns = 0, others_ns = 0;
  for (const auto& r : all.regions)
    ns += r.faults != 0 ? r.ns / r.faults * (r.faults - std::min(r.writes, r.faults)) : 0;
  for (const auto& u : all.units) others_ns += u.writers > 1 ? u.ns : 0;
  ns -= std::min(ns, others_ns);
  const std::uint64_t faults = total(all, "read_faults"), ahead = total(all, "read_ahead_units");
  if (ns < worth_ns || faults == 0 || ahead > faults) return {};
  std::string text = fmt::format(
      "Threads waited {} for {} reads of memory that was elsewhere, and little of it could be fetched ahead. ",
      time_text(ns), faults);
  const std::string line = costliest_line(all, where, read_only);
  if (!line.empty()) text += fmt::format("Most of that memory: {}. ", line);
  if (stock)
    return text +
           "Larger units (--set unit=64K) bring more at a time; --memory mixed keeps copies of arrays and blocks of "
           "64 KiB and more until another thread has written them.";
  return text +
         "Larger units (QUIRE_UNIT, quire_region_options) bring more at a time; quire::prefetch asks before the data "
         "is needed.";
}

}  // namespace

std::string sharing_advice(const sharing::unit_use& unit, const sharing::verdict& of, bool stock) {
  if (!stock || of.kind == sharing::sharing_kind::none) return sharing::advice(unit, of);
  if (of.kind == sharing::sharing_kind::truly)
    return "nodes use the same data: sum in private variables (reduction, private), and write it more seldom";
  return stock_advice;
}

std::string size_text(std::uint64_t bytes) {
  constexpr const char* names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  double size = static_cast<double>(bytes);
  for (; size >= 1024 && i + 1 < std::size(names); ++i) size /= 1024;
  const bool whole = size == static_cast<double>(static_cast<std::uint64_t>(size));
  return whole ? fmt::format("{:.0f} {}", size, names[i]) : fmt::format("{:.1f} {}", size, names[i]);
}

std::string time_text(std::uint64_t ns) {
  const double s = static_cast<double>(ns) / 1e9;
  if (s >= 1) return fmt::format("{:.2f} s", s);
  if (s >= 1e-3) return fmt::format("{:.1f} ms", s * 1e3);
  return fmt::format("{:.1f} us", s * 1e6);
}

std::vector<std::string> advice(const job_statistics& all, int nodes, double seconds,
                                const std::vector<std::string>& where, bool stock) {
  std::vector<std::string> found;
  const auto worth = [&](double share) { return static_cast<std::uint64_t>(share * seconds * nodes * 1e9); };
  if (auto text = about_shared_writes(all, where, worth(0.05), stock); !text.empty()) found.push_back(std::move(text));
  if (auto text = about_reads(all, where, worth(0.2), stock); !text.empty()) found.push_back(std::move(text));
  if (const std::uint64_t ns = total(all, "lock_ns"); ns > worth(0.2))
    found.push_back(
        fmt::format("Threads waited {} for {} locks: divide what a lock guards, or keep locks where they are used.",
                    time_text(ns), total(all, "locks")));
  if (const std::uint64_t ns = total(all, "barrier_ns"); ns > worth(0.3) && ns > total(all, "fault_ns"))
    found.push_back(
        fmt::format("Threads waited {} at barriers for others that came late: the work is uneven, or one node waits "
                    "more for memory.",
                    time_text(ns)));
  return found;
}

}  // namespace quire::tools
