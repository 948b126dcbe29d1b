// SPDX-License-Identifier: BSD-3-Clause
// Pages that the kernel unmaps by itself: it makes huge pages of the memory object (MADV_COLLAPSE, here through a
// mapping of the test's own), and the small pages leave all page tables. Threads that touch them go on as if nothing
// had happened.
#include <sys/mman.h>

#include <cerrno>
#include <fstream>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t pages = 2048, page = 4096, huge = std::size_t{2} << 20;
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/// Where the runtime's own view of the memory that `address` belongs to starts: another mapping of the same object.
char* other_view(const void* address) {
  struct mapping {
    unsigned long first, last, offset, inode;
  };
  std::vector<mapping> all;
  unsigned long wanted = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    mapping m{};
    const int read = std::sscanf(line.c_str(), "%lx-%lx %*s %lx %*s %lu", &m.first, &m.last, &m.offset, &m.inode);
    if (read != 4 || m.inode == 0) continue;
    const auto at = reinterpret_cast<unsigned long>(address);
    if (at >= m.first && at < m.last) {
      wanted = m.inode;
    } else {
      all.push_back(m);
    }
  }
  for (const mapping& m : all) {
    if (m.inode == wanted && m.offset == 0) return reinterpret_cast<char*>(m.first);
  }
  return nullptr;
}

/// How many huge pages the kernel made.
int collapse(const void* address) {
  char* const view = other_view(address);
  REQUIRE(view != nullptr);
  constexpr std::size_t bytes = 16 * huge;
  void* const room = ::mmap(nullptr, bytes + huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(room != MAP_FAILED);
  auto* const at = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(room) + huge - 1) & ~(huge - 1));
  REQUIRE(::mremap(view, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
  int made = 0;
  for (std::size_t i = 0; i < bytes; i += huge) made += ::madvise(at + i, huge, MADV_COLLAPSE) == 0 ? 1 : 0;
  return made;
}

void run() {
  void* memory = nullptr;
  if (quire_node() == 0) {
    REQUIRE_OK(quire_malloc(pages * page, &memory));
    auto* volatile bytes = static_cast<volatile char*>(memory);
    for (std::size_t i = 0; i < pages; ++i) bytes[i * page] = 1;
    const int made = collapse(memory);
    if (made == 0) {
      std::printf("this kernel makes no huge pages of shared memory: nothing to test\n");
      std::fflush(stdout);
      ::_exit(77);
    }
    long sum = 0;
    for (std::size_t i = 0; i < pages; ++i) sum += bytes[i * page];
    for (std::size_t i = 0; i < pages; ++i) bytes[i * page + 1] = 2;
    for (std::size_t i = 0; i < pages; ++i) sum += bytes[i * page + 1];
    REQUIRE_EQUAL(sum, pages * 3);
    REQUIRE_OK(quire_publish("collapsed", memory));
  }
  REQUIRE_OK(quire_lookup("collapsed", 20'000, &memory));
  long sum = 0;
  for (std::size_t i = 0; i < pages; ++i) sum += static_cast<volatile char*>(memory)[i * page + 1];
  REQUIRE_EQUAL(sum, pages * 2);
  barrier();
}

}  // namespace

int main() { return node_main(run); }
