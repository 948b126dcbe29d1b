// SPDX-License-Identifier: BSD-3-Clause
// A queue of tasks of very different size: whoever is free takes the next one, on whichever node. The tasks integrate a function
// on intervals; one whose result is not exact enough puts its two halves into the queue.
// Run it: quire run -n 2 work_queue
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <quire/quire.hpp>

namespace {

struct interval {
  double from = 0, to = 0;
};

double f(double x) { return std::sin(1 / x); }  // wild near 0
double simpson(interval i) { return (i.to - i.from) / 6 * (f(i.from) + 4 * f((i.from + i.to) / 2) + f(i.to)); }

}  // namespace

int main() {
  quire::session job;
  constexpr double from = 0.01, to = 1, exact = 0.503981893, allowed = 1e-7;
  const auto work = quire::from_node(0, [] { return quire::channel<interval>::create(4096); });
  // Tasks that are in the queue or under way: the last one closes it.
  const auto open = quire::from_node(0, [] { return quire::make_shared_array<std::uint64_t>(1); });
  double total = 0, tasks = 0;
  quire::team all(2);
  all.run([&](quire::member& me) {
    if (me.is_first()) {
      quire::atomic_ref(open[0]).fetch_add(1);
      work.send({from, to});
    }
    double sum = 0;
    std::int64_t done = 0;
    while (const auto task = work.receive()) {
      ++done;
      const double middle = (task->from + task->to) / 2;
      const interval left{task->from, middle}, right{middle, task->to};
      const double halves = simpson(left) + simpson(right);
      if (std::abs(halves - simpson(*task)) <= allowed * (task->to - task->from)) {
        sum += halves;
      } else {
        quire::atomic_ref(open[0]).fetch_add(2);
        work.send(left);
        work.send(right);
      }
      if (quire::atomic_ref(open[0]).fetch_sub(1) == 1) work.close();
    }
    sum = me.sum(sum);
    done = me.sum(done);
    if (me.place() == 0) total = sum, tasks = static_cast<double>(done);
  });
  const bool right = std::abs(total - exact) < 1e-5;
  if (job.node() == 0) std::printf("%.0f tasks: the integral is %.6f: %s\n", tasks, total, right ? "right" : "wrong");
  return right ? 0 : 1;
}
