// SPDX-License-Identifier: BSD-3-Clause
// A node for room_test: room_program write|read MEBIBYTES. Node 0 writes so much shared memory, then (read) the others
// read it. It is all there, or there is no memory for it: then the process ends before it can tell.
#include <cstdlib>

#include "node.hpp"

using namespace quire::test;

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "write";
  const std::size_t words = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 1) << 17;
  REQUIRE_OK(quire_start(nullptr));
  auto* const all = shared_region<std::uint64_t>("all", words * 8, region_options(4 << 10, QUIRE_PLACE_NODE, 0));
  if (quire_node() == 0) {
    for (std::size_t i = 0; i < words; i += 64) all[i] = i + 1;
    std::printf("written\n");
    std::fflush(stdout);
  }
  barrier();
  if (quire_node() != 0 && what == "read") {
    for (std::size_t i = 0; i < words; i += 64) REQUIRE_EQUAL(all[i], i + 1);
  }
  barrier();
  std::printf("node %d ends well\n", quire_node());
  REQUIRE_OK(quire_end());
  return 0;
}
