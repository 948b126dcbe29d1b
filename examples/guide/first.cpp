// SPDX-License-Identifier: BSD-3-Clause
// The first program of README.md and docs/guide/first-program.md: quire run -n 2 guide/first
// [first]
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <quire/quire.hpp>

struct counter {
  quire::mutex guard = quire::mutex::create();   // handles may lie in shared memory
  std::uint64_t value = 0;
};

int main() {
  quire::session job;                            // this process is one node of the job
  counter* shared = quire::from_node(0, [] { return quire::new_object<counter>(); });
  {
    const std::scoped_lock lock(shared->guard);
    ++shared->value;                             // plain loads and stores, the same pointer on all nodes
  }
  quire::barrier{}.arrive_and_wait();
  if (job.node() == 0) std::printf("%d nodes counted %d\n", job.nodes(), static_cast<int>(shared->value));
}
// [/first]
