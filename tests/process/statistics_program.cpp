// SPDX-License-Identifier: BSD-3-Clause
// A node for statistics_test: each node counts in counters of its own, which lie beside those of others as they were
// allocated.
#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t how_many = 64;
using counter = std::uint64_t;

[[gnu::noinline]] counter* allocate_a_counter() {
  void* at = nullptr;
  REQUIRE_OK(quire_malloc(sizeof(counter), &at));
  return static_cast<counter*>(at);
}

}  // namespace

int main() {
  REQUIRE_OK(quire_start(nullptr));
  const auto nodes = static_cast<std::size_t>(quire_nodes()), me = static_cast<std::size_t>(quire_node());
  struct table {
    counter* at[how_many];
  };
  counter** const all = shared_object<table>("counters")->at;
  if (me == 0) {
    for (std::size_t i = 0; i < how_many; ++i) all[i] = allocate_a_counter();
  }
  barrier();
  for (std::size_t round = 0; round < 500; ++round) {
    ++*all[(round * nodes + me) % how_many];
    barrier();
  }
  REQUIRE_OK(quire_end());
  return 0;
}
