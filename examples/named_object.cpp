// SPDX-License-Identifier: BSD-3-Clause
// Names: every node publishes an object that it made when it liked, and finds those of the others. Nobody has to
// allocate in the same order, or at the same time, as anybody else.
// Run it: quire run -n 2 named_object
#include <chrono>
#include <cstdio>
#include <string>

#include <quire/quire.hpp>

namespace {

struct station {
  int node;
  quire::event opened;
  station* next = nullptr;  // a pointer into shared memory means the same on every node
};

std::string name_of(int node) { return "station " + std::to_string(node); }

}  // namespace

int main() {
  using namespace std::chrono_literals;
  quire::session job;
  auto* mine = quire::new_object<station>(station{job.node(), quire::event::create()});
  quire::publish(name_of(job.node()), mine);

  mine->next = quire::lookup<station>(name_of((job.node() + 1) % job.nodes()));  // waits until it is there
  mine->opened.set();

  // Once around the ring of pointers; a station is complete when its event is set.
  int seen = 0;
  const station* at = mine;
  do {
    quire::event opened = at->opened;
    if (!opened.wait_for(10s)) break;
    ++seen;
    at = at->next;
  } while (at != mine);
  const bool nobody = quire::lookup_for<station>("no such station", 0ms) == nullptr;
  std::printf("node %d travelled past %d of %d stations\n", job.node(), seen, job.nodes());
  return seen == job.nodes() && nobody ? 0 : 1;
}
