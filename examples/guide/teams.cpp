// SPDX-License-Identifier: BSD-3-Clause
// Threads of all nodes that work on one thing, of docs/guide/teams.md: quire run -n 2 guide/teams
#include <cstdio>
#include <vector>

#include <quire/containers.hpp>
#include <quire/quire.hpp>

int main() {
  quire::session job;
  bool right = true;
  // [team]
  const auto values = quire::from_node(0, [] { return quire::make_shared_array<double>(100'000); });
  quire::team all(2);                               // one thread of each node makes it: two threads of this node
  all.for_each(values.size(), [&](std::size_t i) { values[i] = static_cast<double>(i); });
  // [/team]

  // [run]
  double largest = 0;
  all.run([&](quire::member& me) {                  // on all threads of all nodes
    double sum = 0;
    for (double& v : me.my_part(values.size()).of(values)) sum += v /= 2;
    const double total = me.sum(sum);               // of all threads; the same bits on all
    me.wait();                                      // a barrier of all threads, which nobody has counted
    if (me.place() == 0) largest = me.reduce(total, quire::operation::max);
    else (void)me.reduce(total, quire::operation::max);  // all make the same calls
  });
  // [/run]
  right = right && largest == 100'000.0 * 99'999 / 4;

  // [arrays]
  std::vector<double> histogram(1000);              // private: each thread could have one as well
  quire::all_reduce(std::span(histogram), quire::operation::sum);  // of one thread of each node; any size
  all.run([&](quire::member& me) {
    std::vector<double> mine(1000, 1.0);
    me.reduce(std::span(mine), quire::operation::sum);  // of all threads
    me.broadcast_values(std::span(mine), me.count() - 1);  // from one to all
  });
  // [/arrays]

  // [group]
  const auto pair = quire::group::create(job.node() < 2 ? 1 : 0);  // one thread of nodes 0 and 1: a call of all nodes
  if (job.node() < 2) {
    quire::member me(pair);                         // a member for as long as it lives
    me.wait();
  }
  // [/group]

  // [channel]
  const auto work = quire::from_node(0, [] { return quire::channel<int>::create(100); });
  const auto counts = quire::from_node(0, [] { return quire::sharded_map<int, int>::create(); });
  all.run([&](quire::member& me) {
    if (me.is_first()) {
      for (int i = 0; i < 1000; ++i) work.send(i);
      work.close();
    }
    while (const auto i = work.receive()) counts.update(*i % 10, [](int& n) { ++n; });
  });
  // [/channel]
  right = right && counts.find(3) == 100;
  if (job.node() == 0) std::printf("%zu threads agree\n", all.size());
  return right ? 0 : 1;
}
