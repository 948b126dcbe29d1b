// SPDX-License-Identifier: BSD-3-Clause
// quire_nodes: what a job of many nodes costs before it does anything. Each node starts, meets the others at a barrier,
// and tells how long that took and what memory it holds alone; with --talk after a page of each node has been read by
// all, so that every connection is made. run.py measures the whole job, start and end of all processes included, from
// outside.
#include <quire/quire.hpp>

#include <chrono>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

/// Of this process: bytes that no other process shares, and all that are in memory.
struct memory {
  double alone = 0, all = 0;
};
memory memory_in_use() {
  memory m;
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    const auto kib = [&](const char* key) {
      return line.starts_with(key) ? std::stod(line.substr(line.find(':') + 1)) * 1024 : 0.0;
    };
    m.alone += kib("Private_Clean:") + kib("Private_Dirty:");
    m.all += kib("Rss:");
  }
  return m;
}

void tell(const char* name, const char* unit, double value) {
  bench::samples one(name, unit);
  one.add(value);
  one.print();
}

void run(bool talk) {
  std::optional<quire::session> job;
  const auto from = std::chrono::steady_clock::now();
  job.emplace();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - from;
  if (talk) {
    const auto pages =
        quire::from_node(0, [&] { return quire::region::create(static_cast<std::size_t>(job->nodes()) * 4096); });
    const auto words = pages.span<std::uint64_t>();
    const auto at = [](int node) { return static_cast<std::size_t>(node) * 512; };
    words[at(job->node())] = static_cast<std::uint64_t>(job->node()) + 1;
    quire::barrier{}.arrive_and_wait();
    for (int i = 0; i < job->nodes(); ++i) {  // each begins elsewhere
      const int node = (job->node() + i) % job->nodes();
      if (words[at(node)] != static_cast<std::uint64_t>(node) + 1)
        throw std::runtime_error("a page is not what it should be");
    }
  }
  quire::barrier{}.arrive_and_wait();
  const memory mine = memory_in_use();
  const double most_ms = quire::all_reduce(took.count(), quire::operation::max);
  const double alone = quire::all_reduce(mine.alone, quire::operation::sum) / job->nodes();
  const double all = quire::all_reduce(mine.all, quire::operation::sum) / job->nodes();
  if (job->node() != 0) return;
  tell("session", "ms", most_ms);
  tell("alone", "KiB", alone / 1024);
  tell("resident", "KiB", all / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  bool talk = false;
  bench::program here("Start and memory of a job of many nodes. Start it as `quire run -n 64 quire_nodes`.");
  here.add_flag("--talk", talk, "each node reads a page of every other first");
  return here.run(argc, argv, [&] { run(talk); });
}
