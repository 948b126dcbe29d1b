// SPDX-License-Identifier: BSD-3-Clause
#include "advisor/advisor.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "command_lines.hpp"
#include "os/file_content.hpp"
#include "os/process.hpp"

namespace quire::tools::advisor {
namespace {

constexpr std::uint64_t heap = 0;                               // the region of quire_malloc()
constexpr std::uint64_t larger_units[] = {64 << 10, 16 << 10};  // QUIRE_UNIT, in the order in which they are tried
constexpr std::uint64_t most_small = 2048;  // QUIRE_HEAP_VIEWS: larger allocations are not alone on theirs

std::uint64_t counter(const report::job& all, const std::string& name) {
  std::uint64_t sum = 0;
  for (const auto& r : all.nodes)
    for (const auto& c : r.counters)
      if (c.name == name) sum += c.value;
  return sum;
}

bool holds_small(const report::finding& f) {
  return f.unit.region == static_cast<int>(heap) && f.unit.objects.size() >= 2 &&
         std::ranges::all_of(f.unit.objects, [](const auto& o) { return o.bytes <= most_small; });
}

/// Threads that wait for pages as much as a twentieth of what that does which waits most.
unsigned threads_that_wait(const report::job& all) {
  std::vector<std::uint64_t> waits;
  for (const auto& r : all.nodes)
    for (const auto& t : r.threads) {
      waits.push_back(0);
      for (const auto& u : t.units) waits.back() += u.sums.ns[0] + u.sums.ns[1];
    }
  const std::uint64_t most = waits.empty() ? 0 : *std::ranges::max_element(waits);
  return static_cast<unsigned>(
      std::ranges::count_if(waits, [&](std::uint64_t ns) { return ns != 0 && ns * 20 >= most; }));
}

void add_units(const report::job& all, evidence& to) {
  std::map<std::uint64_t, std::set<std::uint64_t>> writers;  // by address, of the heap's units
  for (const auto& r : all.nodes)
    for (const auto& t : r.threads)
      for (const auto& u : t.units) {
        if (u.region != heap || u.bytes == 0) continue;
        to.heap_unit_bytes = std::max(to.heap_unit_bytes, u.bytes);
        to.heap_fault_ns += u.sums.ns[0] + u.sums.ns[1];
        auto& of_unit = writers[u.address];
        if (u.sums.faults[1] != 0) of_unit.insert(r.node);
      }
  to.heap_units = writers.size();
  for (const std::uint64_t bytes : larger_units) {
    std::map<std::uint64_t, std::set<std::uint64_t>> of_pieces;
    for (const auto& [address, nodes] : writers) of_pieces[address / bytes].insert(nodes.begin(), nodes.end());
    const auto contended = std::ranges::count_if(of_pieces, [](const auto& one) { return one.second.size() > 1; });
    to.heap_pieces.push_back({bytes, of_pieces.size(), static_cast<std::uint64_t>(contended)});
  }
}

/// Program, arguments and nodes; another build of the program is another job.
std::string job_text(const bootstrap::launcher::job_plan& plan) {
  std::string text = fmt::format("{} nodes", plan.nodes);
  for (const auto& host : plan.hosts) text += " " + host.name;
  struct stat about {};
  if (::stat(plan.command.front().c_str(), &about) == 0) text += fmt::format(" {}:{}", about.st_size, about.st_mtime);
  for (const auto& word : plan.command) text += " " + quoted(word);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

evidence evidence_of(const report::job& all, bool places_threads) {
  evidence e;
  e.stock = all.stock;
  e.places_threads = places_threads;
  e.nodes = static_cast<unsigned>(std::max<std::uint64_t>(1, all.size));
  for (const auto& r : all.nodes) {
    for (const auto& t : r.threads) {
      if (!t.segments.empty()) e.threads_ns += t.segments.back().end_ns - t.begin_ns;
      for (const auto& s : t.segments)
        for (std::size_t i = 0; i < record::waits; ++i) e.waited_ns += s.waited_ns[i];
    }
    for (const std::uint64_t ns : r.rest_ns) e.waited_ns += ns;
  }
  e.nodes_ns = e.nodes * static_cast<std::uint64_t>(1e9 * seconds_of(all));
  e.threads = threads_that_wait(all);
  e.fault_ns = counter(all, "fault_ns");
  for (const auto& f : all.shared) (holds_small(f) ? e.false_small_ns : e.false_other_ns) += f.verdict.ns;
  add_units(all, e);
  e.read_ahead_units = counter(all, "read_ahead_units");
  e.read_ahead_wasted = counter(all, "read_ahead_wasted");
  e.exclusive_reads = counter(all, "exclusive_reads");
  e.double_faults = counter(all, "double_faults");
  e.exclusive_wasted = counter(all, "exclusive_wasted");
  return e;
}

double seconds_of(const report::job& all) {
  std::uint64_t longest = 0;
  for (const auto& r : all.nodes) longest = std::max(longest, r.ns - std::min(r.ns, r.met_ns));
  return static_cast<double>(longest) / 1e9;
}

tuning::tuning(std::string file, const bootstrap::launcher::job_plan& plan, program_facts about, std::string& note)
    : file_(std::move(file)), about_(std::move(about)) {
  const std::string job = job_text(plan);
  const std::string text = os::content_of(file_).text;
  if (!text.empty()) {
    if (auto found = read(text); !found) {
      note = fmt::format("{} is not what `quire run --auto` writes: it begins anew", file_);
    } else if (found->job != job) {
      note = fmt::format("{} is of another program, build, arguments or nodes: it begins anew", file_);
    } else {
      known_ = std::move(*found);
      note = leave_alone(known_, about_.closed);
      return;
    }
  }
  known_.job = job;
}

bool tuning::on_run(int exit_status, const std::string& records, std::vector<std::string>& said, std::string& why) {
  if (exit_status != 0) {
    said = on_failure(known_, exit_status);
  } else {
    report::job all;
    if (!report::read_records(records, all, why)) return false;
    report::explain(all);
    const evidence told = evidence_of(all, about_.places_threads);
    about_.stock = told.stock;
    said = advisor::on_run(known_, seconds_of(all), told, about_.closed);
    if (is_done(known_)) std::ranges::move(hints(told), std::back_inserter(said));
  }
  return keep(said, why);
}

bool tuning::on_slow(double seconds, std::vector<std::string>& said, std::string& why) {
  said = advisor::on_slow(known_, seconds);
  return keep(said, why);
}

bool tuning::on_refused(std::vector<std::string>& said, std::string& why) {
  said = advisor::on_refused(known_);
  return keep(said, why);
}

bool tuning::keep(std::vector<std::string>& said, std::string& why) {
  if (is_done(known_)) std::ranges::move(how_to_write(known_, about_.stock, about_.own), std::back_inserter(said));
  errno = 0;
  std::ofstream to(file_, std::ios::trunc);
  to << write(known_);
  to.close();
  if (to.fail()) why = fmt::format("cannot write {}: {}", file_, os::error_text(errno));
  return !to.fail();
}

}  // namespace quire::tools::advisor
