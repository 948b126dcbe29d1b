// SPDX-License-Identifier: BSD-3-Clause
#include "os/private_mappings.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

namespace quire::os {

std::vector<private_mapping> writable_private_mappings() {
  std::vector<private_mapping> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, end = 0;
    char permissions[8] = {};
    int name_at = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %*s %*s %*s %n", &first, &end, permissions, &name_at) != 3) continue;
    if (permissions[1] != 'w' || permissions[3] != 'p') continue;
    std::string name = name_at > 0 && static_cast<std::size_t>(name_at) < line.size()
                           ? line.substr(static_cast<std::size_t>(name_at))
                           : "";
    // The bss of a file has no name of its own, and begins where the data ends.
    if (name.empty() && !all.empty() && all.back().end == first && all.back().name.starts_with('/'))
      name = all.back().name;
    all.push_back({first, end, std::move(name)});
  }
  return all;
}

namespace {

std::vector<void*> g_left_out;  // reachable, so that no checker of leaks complains

/// Takes what malloc has free below what it has never given, so that all it gives from now on comes from beyond.
void use_up_free_chunks() {
  constexpr std::size_t largest = 64 << 10, small = 1 << 10, step = 16, most = 100'000;
  g_left_out.push_back(std::malloc(largest));
  const void* const beyond = g_left_out.back();
  for (std::size_t bytes = largest; bytes != 0 && g_left_out.size() < most; bytes -= bytes > small ? bytes / 2 : step) {
    do g_left_out.push_back(std::malloc(bytes));
    while (g_left_out.back() != nullptr && std::less<>()(g_left_out.back(), beyond) && g_left_out.size() < most);
  }
}

}  // namespace

bool shift_private_memory(unsigned number) {
  constexpr std::size_t of_the_heap = 64 << 10, of_addresses = 64 << 20;
  if (number == 0) return true;
  use_up_free_chunks();
  for (unsigned i = 0; i < number; ++i) g_left_out.push_back(std::malloc(of_the_heap));
  return ::mmap(nullptr, number * of_addresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) !=
         MAP_FAILED;
}

}  // namespace quire::os
