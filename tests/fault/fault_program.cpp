// SPDX-License-Identifier: BSD-3-Clause
// A node for fault_test: a little of everything. QUIRE_FAIL makes one system call fail, on all nodes or, with a number
// as the argument, on that node alone.
#include <atomic>

#include "../process/node.hpp"

using namespace quire::test;

int main(int argc, char** argv) {
  const char* self = std::getenv("QUIRE_JOB_NODE");
  if (argc > 1 && self != nullptr && std::strcmp(self, argv[1]) != 0) ::unsetenv("QUIRE_FAIL");
  if (const quire_status status = quire_start(nullptr); status != QUIRE_OK) {
    std::fprintf(stderr, "quire_start: %s\n", quire_status_text(status));
    return status;
  }
  auto* words = shared_object<std::uint64_t>("words", 16384);
  quire_region region{};
  const quire_status made = quire_region_create(nullptr, 1 << 20, &region);
  if (made != QUIRE_OK) {
    std::fprintf(stderr, "quire_region_create: %s\n", quire_status_text(made));
    return made;
  }
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < 16384; i += 512) std::atomic_ref(words[i]).fetch_add(1);
    barrier();
  }
  for (std::size_t i = 0; i < 16384; i += 512) REQUIRE_EQUAL(words[i], 5 * quire_nodes());
  REQUIRE_OK(quire_end());
  std::printf("all is well\n");
  return 0;
}
