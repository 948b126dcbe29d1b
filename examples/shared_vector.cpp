// SPDX-License-Identifier: BSD-3-Clause
// Standard containers in shared memory: a map of vectors that every node extends. With quire::allocator their elements
// are shared; made by new_object() the containers themselves are, too.
// Run it: quire run -n 2 shared_vector
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include <quire/quire.hpp>

namespace {

using numbers = std::vector<int, quire::allocator<int>>;
using table = std::map<int, numbers, std::less<>, quire::allocator<std::pair<const int, numbers>>>;

struct library {
  quire::mutex guard = quire::mutex::create();
  table shelves;
};

constexpr int entries = 200;

}  // namespace

int main() {
  quire::session job;
  library* shared = quire::from_node(0, [] { return quire::new_object<library>(); });

  for (int i = 0; i < entries; ++i) {
    const std::scoped_lock lock(shared->guard);
    shared->shelves[i % 10].push_back(job.node());  // grows on whichever node comes by; frees what another allocated
  }
  quire::barrier{}.arrive_and_wait();

  std::size_t found = 0;
  std::size_t mine = 0;
  for (const auto& [shelf, content] : shared->shelves)
    for (int node : content) ++found, mine += node == job.node();
  std::printf("node %d sees %zu numbers on %zu shelves, %zu are its own\n", job.node(), found, shared->shelves.size(),
              mine);

  quire::barrier{}.arrive_and_wait();
  if (job.node() == 0) quire::delete_object(shared);
  return found == static_cast<std::size_t>(entries * job.nodes()) && mine == entries ? 0 : 1;
}
