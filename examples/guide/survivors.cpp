// SPDX-License-Identifier: BSD-3-Clause
// Survivors of a death, of docs/guide/failures.md: quire run -n 3 --replicas 1 guide/survivors 1
// With an argument, that node kills itself while it has the lock.
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <quire/quire.hpp>

namespace {

// [account]
struct account {
  quire::mutex guard = quire::mutex::create();
  int booked = 0, balance = 0;                              // always equal, but while somebody has the lock
};
// [/account]

std::atomic<int> deaths{0};

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const int dies = argc > 1 ? std::atoi(argv[1]) : -1;
  // [notify]
  quire::on_failure([](int node, void*) {
    std::printf("node %d hears that node %d is lost\n", quire::node(), node);
    ++deaths;
  });
  // [/notify]
  auto* shared = quire::from_node(0, [] { return quire::new_object<account>(); });
  quire::barrier{}.arrive_and_wait();
  if (job.node() == dies) {
    shared->guard.lock();
    ++shared->booked;
    ::raise(SIGKILL);
  }
  while (dies >= 0 && deaths == 0) ::sched_yield();
  // [robust]
  if (shared->guard.lock_robustly()) {                      // the node that had the lock last is dead
    shared->booked = shared->balance;                       // what it guards may be half done
  }
  ++shared->booked;
  ++shared->balance;
  shared->guard.unlock();
  // [/robust]
  quire::barrier{}.arrive_and_wait();
  const bool right = shared->booked == shared->balance && shared->balance == quire::nodes_alive();
  if (job.node() == 0) std::printf("%d of %d nodes booked %d\n", quire::nodes_alive(), job.nodes(), shared->balance);
  quire::barrier{}.arrive_and_wait();
  return right ? 0 : 1;
}
