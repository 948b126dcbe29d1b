// SPDX-License-Identifier: BSD-3-Clause
// quire_idle: the processor time that a started node takes while its program sleeps. Start it on two nodes.
#include <quire/quire.hpp>

#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void run(double seconds) {
  const quire::session job;
  // The start is over on all nodes, and whatever spins for a while after activity has stopped.
  quire::barrier{}.arrive_and_wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const double share = (processor_seconds() - before) / seconds * 100;
  const double most = quire::all_reduce(share, quire::operation::max);
  if (job.node() == 0) {
    bench::samples idle("idle", "% of a core");
    idle.add(most);
    idle.print();
  }
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 3;
  bench::program here("What an idle node costs. Start it as `quire run -n 2 quire_idle`.");
  here.add_seconds("--seconds", seconds, "how long to sleep");
  return here.run(argc, argv, [&] { run(seconds); });
}
