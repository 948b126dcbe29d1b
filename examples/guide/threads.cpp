// SPDX-License-Identifier: BSD-3-Clause
// What is shared and what is not, of docs/guide/from-threads.md: quire run -n 2 guide/threads
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include <quire/quire.hpp>

// [shared]
int private_count = 0;                              // a global variable: each node has its own

struct tally {                                      // lies in shared memory, with all that it holds
  quire::mutex guard = quire::mutex::create();
  std::vector<int, quire::allocator<int>> numbers;  // std::vector<int> would keep its elements in private memory
};
// [/shared]

int main() {
  quire::session job;
  constexpr int per_node = 2;
  // [make]
  tally* shared = quire::from_node(0, [] { return quire::new_object<tally>(); });
  // [/make]
  // [threads]
  std::vector<std::jthread> threads;                // private: used by this node alone
  for (int t = 0; t < per_node; ++t) {
    threads.emplace_back([shared, number = job.node() * per_node + t] {
      const std::scoped_lock lock(shared->guard);   // keeps out the threads of all nodes
      shared->numbers.push_back(number);
    });
  }
  threads.clear();                                  // waits for the threads of this node
  quire::barrier{}.arrive_and_wait();               // waits for all nodes: one thread of each calls it
  // [/threads]
  bool right = shared->numbers.size() == static_cast<std::size_t>(job.nodes() * per_node);

  // [private]
  if (job.node() == 0) private_count = 1;
  quire::barrier{}.arrive_and_wait();
  // private_count is 1 on node 0, and 0 on all other nodes
  // [/private]
  right = right && private_count == (job.node() == 0 ? 1 : 0);

  if (job.node() == 0) {
    // [remote]
    const int last = job.nodes() - 1;
    quire::thread there(last, [](tally* t) { return static_cast<int>(t->numbers.size()); }, shared);
    const int size_seen_there = there.join<int>();
    // [/remote]
    right = right && size_seen_there == job.nodes() * per_node;
    std::printf("%zu numbers from %d nodes\n", shared->numbers.size(), job.nodes());
  }
  quire::barrier{}.arrive_and_wait();
  return right ? 0 : 1;
}
