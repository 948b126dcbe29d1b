// SPDX-License-Identifier: BSD-3-Clause
// dlopen(3) during the run: one node would have the library, whose static data the others lack. It is refused by name;
// the system's libraries, which are private anyway, may be loaded.
//
// The dynamic linker looks for a bare name where its caller says, and must not notice this function: the jump at its
// end leaves the caller's return address. Such a library is looked at when the next region begins or ends.
#include "openmp/start/loading.hpp"

#include <link.h>
#include <quire/quire.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>

#include "openmp/libc/interpose.hpp"
#include "openmp/start/fail.hpp"
#include "openmp/start/modules.hpp"

namespace quire::openmp {
namespace {

std::array<std::uint64_t, 1024> g_known;  ///< where modules lie that were there before
std::size_t g_known_count = 0;
std::atomic<bool> g_refuses{false}, g_stale{false};

int note_known(dl_phdr_info* info, std::size_t, void*) {
  if (g_known_count == g_known.size()) return 1;
  g_known[g_known_count++] = info->dlpi_addr;
  return 0;
}

int refuse_new(dl_phdr_info* info, std::size_t, void*) {
  const auto end = g_known.begin() + static_cast<std::ptrdiff_t>(g_known_count);
  if (info->dlpi_name[0] == 0 || !is_programs_own(info->dlpi_name) ||
      std::find(g_known.begin(), end, info->dlpi_addr) != end)
    return 0;
  char line[400];
  std::snprintf(
      line, sizeof line,
      "the program loads %s during the run (dlopen), and other nodes have nothing of it: link the program with it",
      info->dlpi_name);
  fail(line, QUIRE_UNSUPPORTED);
}

void look() noexcept {
  g_stale.store(false);
  if (g_refuses.load()) ::dl_iterate_phdr(refuse_new, nullptr);
}

}  // namespace

void look_at_loaded() noexcept {
  if (g_stale.load(std::memory_order_relaxed)) look();
}

void refuse_to_load() noexcept {
  if (quire_nodes() == 1) return;
  ::dl_iterate_phdr(note_known, nullptr);
  g_refuses.store(true);
}

}  // namespace quire::openmp

using namespace quire::openmp;

QUIRE_LIBC void* dlopen(const char* file, int mode) noexcept {
  if (file == nullptr || strchr(file, '/') == nullptr) {
    g_stale.store(true);
    return QUIRE_NEXT(dlopen)(file, mode);
  }
  void* const found = QUIRE_NEXT(dlopen)(file, mode);
  look();
  return found;
}
