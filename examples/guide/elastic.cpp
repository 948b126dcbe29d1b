// SPDX-License-Identifier: BSD-3-Clause
// The program of docs/guide/failures.md whose nodes may go while it runs: quire run -n 4 --on-failure notify elastic [PARTS]
#include <quire/leave.hpp>
#include <quire/quire.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct board {
  std::uint64_t next = 0;  ///< the first part that nobody has taken
  double sum = 0;
};

/// Of 1 / n for a million numbers of a part.
double sum_of(std::uint64_t part) {
  double sum = 0;
  for (std::uint64_t n = part * 1'000'000 + 1; n <= (part + 1) * 1'000'000; ++n) sum += 1.0 / static_cast<double>(n);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const std::uint64_t parts = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  auto* const work = quire::from_node(0, [] { return quire::new_object<board>(); });
  quire::mutex lock = quire::from_node(0, quire::mutex::create);
  const auto take = [&] { return quire::atomic_ref<std::uint64_t>(work->next).fetch_add(1); };
  // [elastic]
  for (std::uint64_t part = take(); part < parts; part = take()) {
    const double sum = sum_of(part);
    lock.lock();
    work->sum += sum;
    lock.unlock();
    if (quire::leave_wanted() && quire::leave()) return 0;  // what was in this node's memory is at others now
  }
  // [/elastic]
  quire::barrier{}.arrive_and_wait();
  if (job.node() == 0) std::printf("the sum is %.3f, by %d nodes\n", work->sum, quire::nodes_alive());
}
