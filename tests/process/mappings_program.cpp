// SPDX-License-Identifier: BSD-3-Clause
// Very much memory: a region of most of a terabyte, and more than a million units whose states alternate (none, write,
// none, read) on node 1. No limit on mappings is met. With the argument "limit" and detector segv the limit is met, and
// named. A number as the argument stands for the million.
#include <sys/mman.h>

#include <atomic>
#include <fstream>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t unit_bytes = 4096, words = unit_bytes / sizeof(std::uint64_t);

std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t kilobytes; file >> name >> kilobytes >> unit;)
    if (name == "MemAvailable:") return kilobytes << 10;
  return 0;
}
std::size_t mappings() {
  std::ifstream file("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

/// Far corners of a region of 400 GiB, beside the heap's 512.
void terabyte() {
  constexpr std::uint64_t bytes = std::uint64_t{400} << 30, step = std::uint64_t{10} << 30;
  auto* memory = shared_region<char>("most of a terabyte", bytes, region_options(unit_bytes, QUIRE_PLACE_BLOCK));
  for (std::uint64_t i = 0; i < bytes; i += step)
    if (static_cast<int>(i / step) % quire_nodes() == quire_node()) memory[i] = static_cast<char>(i / step + 1);
  if (quire_node() == 1) memory[bytes - 1] = 9;
  barrier();
  for (std::uint64_t i = 0; i < bytes; i += step) REQUIRE_EQUAL(memory[i], i / step + 1);
  REQUIRE_EQUAL(memory[bytes - 1], 9);
}

/// Node 1 is home of the odd units. Of four units it writes one of its own and reads one of node 0; two are left alone.
void alternating_states(std::size_t units) {
  auto* memory =
      shared_region<std::uint64_t>("alternating", units * unit_bytes, region_options(unit_bytes, QUIRE_PLACE_MODULO));
  barrier();
  if (quire_node() == 1) {
    for (std::size_t unit = 0; unit + 4 <= units; unit += 4) {
      memory[(unit + 1) * words] = unit + 1;
      REQUIRE_OK(quire_prefetch(memory + (unit + 2) * words, unit_bytes, 0));
    }
    for (std::size_t unit = 0; unit + 4 <= units; unit += 4) REQUIRE_EQUAL(memory[(unit + 2) * words], 0);
    std::printf("%zu units in alternating states, %zu mappings\n", units, mappings());
    REQUIRE(mappings() < 1000);
    // The application can still have threads and memory.
    on_threads(4, [](int) {
      void* more = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      REQUIRE(more != MAP_FAILED);
    });
  }
  barrier();
  // Each state is what it should be: what was written is there for the other node, what was read changes when written.
  constexpr std::size_t step = 4 * 101;
  if (quire_node() == 0)
    for (std::size_t unit = 0; unit + 4 <= units; unit += step) {
      REQUIRE_EQUAL(memory[(unit + 1) * words], unit + 1);
      memory[(unit + 2) * words] = unit + 2;
    }
  barrier();
  if (quire_node() == 1)
    for (std::size_t unit = 0; unit + 4 <= units; unit += step) REQUIRE_EQUAL(memory[(unit + 2) * words], unit + 2);
}

}  // namespace

int main(int argc, char** argv) {
  const bool limit = argc > 1 && argv[1] == std::string("limit");
  if (!limit && available_bytes() < std::uint64_t{6} << 30) {
    std::printf("skipped: needs 6 GiB of memory\n");
    return 77;
  }
  return node_main([&] {
    if (limit) return alternating_states(200'000);
    section("a terabyte", terabyte);
    const std::size_t units = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'050'000;
    section("alternating states", [&] { alternating_states(units); });
  });
}
