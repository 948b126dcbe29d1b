// SPDX-License-Identifier: BSD-3-Clause
// A job that a node ends by quire_exit(), for exit_test: `node` (or all) with `status`, while threads of others wait in
// a barrier, fault, compute, or hold the lock of standard output.
#include <quire/system.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "node.hpp"

using namespace quire::test;

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  const int node = argc > 2 ? std::atoi(argv[2]) : 0, status = argc > 3 ? std::atoi(argv[3]) : 0;
  if (how == "before") quire_exit(status);
  REQUIRE_OK(quire_start(nullptr));
  auto* const words = shared_region<std::uint64_t>("words", 64 * 4096, region_options(4096, QUIRE_PLACE_MODULO));
  barrier();
  std::printf("node %d is here\n", quire_node());  // not flushed
  if (how == "after") {
    const bool chosen = quire_node() == node;
    REQUIRE_OK(quire_end());
    quire_exit(chosen ? status : 0);
  }
  barrier();
  if (how == "all") quire_exit(status + quire_node());
  if (quire_node() == node) {
    if (how == "threads") {
      on_threads(4, [status](int) { quire_exit(status); });
    }
    quire_exit(status);
  }
  if (how == "lock") ::flockfile(stdout);
  if (how == "compute") {
    for (;;) asm volatile("" ::: "memory");
  }
  for (std::uint64_t i = 0; how == "faults"; ++i) __atomic_fetch_add(&words[i % 64 * 512], 1, __ATOMIC_SEQ_CST);
  barrier();
  std::printf("nobody comes here\n");
  REQUIRE_OK(quire_end());
  return 0;
}
