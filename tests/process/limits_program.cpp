// SPDX-License-Identifier: BSD-3-Clause
// A small job that uses what the options limit: memory of quire_malloc() and its frees, a region of units of the size
// given, stores that lie in two units, twins of many units, pins, system calls into shared memory, a checkpoint.
//     limits_program UNIT release|sequential [DIRECTORY for checkpoints]
#include <sys/mman.h>

#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr int units = 20;

std::uint64_t value_of(int unit, int round) { return mix(static_cast<std::uint64_t>(unit * 100 + round)); }

/// Every node counts under one lock.
void count_under_a_lock() {
  struct shared {
    quire_mutex mutex;
    volatile std::uint64_t count;
  };
  auto* const all = shared_object<shared>("counted");
  if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(&all->mutex));
  barrier();
  constexpr int times = 10;
  for (int i = 0; i < times; ++i) {
    REQUIRE_OK(quire_mutex_lock(all->mutex));
    all->count = all->count + 1;
    REQUIRE_OK(quire_mutex_unlock(all->mutex));
  }
  barrier();
  REQUIRE_EQUAL(all->count, times * quire_nodes());
}

/// Every node frees what another has allocated.
void free_what_others_have_made() {
  constexpr int blocks = 130;
  auto* const all = shared_object<void*>("blocks", static_cast<std::size_t>(blocks * quire_nodes()));
  void** const mine = all + quire_node() * blocks;
  for (int i = 0; i < blocks; ++i) REQUIRE_OK(quire_malloc(64, &mine[i]));
  barrier();
  void** const others = all + (quire_node() + 1) % quire_nodes() * blocks;
  for (int i = 0; i < blocks; ++i) REQUIRE_OK(quire_free(others[i]));
  barrier();
  REQUIRE_EQUAL(counters().bad_frees, 0);
}

/// One store writes the end of a unit and the beginning of the next; in each round another node writes it.
void write_two_units_at_once(char* memory, std::size_t unit) {
  for (int round = 0; round < 3; ++round) {
    for (int u = 1; u < units; ++u) {
      if ((u + round) % quire_nodes() != quire_node()) continue;
      const std::uint64_t value = value_of(u, round);
      asm volatile("movq %1, %0"
                   : "=m"(*reinterpret_cast<std::uint64_t*>(memory + static_cast<std::size_t>(u) * unit - 4))
                   : "r"(value));
    }
    barrier();
    for (int u = 1; u < units; ++u) {
      std::uint64_t found = 0;
      std::memcpy(&found, memory + static_cast<std::size_t>(u) * unit - 4, sizeof found);
      REQUIRE_EQUAL(found, value_of(u, round));
    }
    barrier();
  }
}

/// The kernel writes several units for one call.
void read_into_many_units(char* memory, std::size_t unit) {
  const std::size_t bytes = 12 * unit;
  if (quire_node() == quire_nodes() - 1) {
    const int file = ::memfd_create("numbers", MFD_CLOEXEC);
    REQUIRE(file >= 0);
    const std::vector<char> numbers(bytes, 'n');
    REQUIRE(::write(file, numbers.data(), bytes) == static_cast<ssize_t>(bytes));
    REQUIRE(::pread(file, memory + 100, bytes, 0) == static_cast<ssize_t>(bytes));
    ::close(file);
  }
  barrier();
  for (std::size_t i = 0; i < bytes; i += 1021) REQUIRE(memory[100 + i] == 'n');
  barrier();
}

void run_all(std::size_t unit, bool release, const char* directory) {
  count_under_a_lock();
  free_what_others_have_made();
  auto about = region_options(unit, QUIRE_PLACE_BLOCK);
  about.consistency = release ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
  char* const memory = shared_region<char>("limited", units * unit, about);
  barrier();
  write_two_units_at_once(memory, unit);
  read_into_many_units(memory, unit);
  REQUIRE_OK(quire_pin(memory, 8, 20'000, nullptr));
  REQUIRE_OK(quire_unpin(memory, 8));
  barrier();
  for (int i = 0; directory != nullptr && i < 3; ++i) REQUIRE_OK(quire_checkpoint(directory));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::size_t unit = std::strtoull(argv[1], nullptr, 0);
  return node_main([&] { run_all(unit, std::string_view(argv[2]) == "release", argc > 3 ? argv[3] : nullptr); });
}
