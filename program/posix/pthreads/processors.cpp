// SPDX-License-Identifier: BSD-3-Clause
// How many processors there are for a program whose threads are on all nodes: those of all nodes.
#include <sys/sysinfo.h>
#include <unistd.h>

#include "program/job/job.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/threads/records.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {
bool asks_for_all(const void* caller) noexcept {
  return has_placement() && threads_placement().how != placement::kind::here && for_program(caller);
}
}  // namespace

QUIRE_LIBC long sysconf(int what) noexcept {
  const bool is_number = what == _SC_NPROCESSORS_ONLN || what == _SC_NPROCESSORS_CONF;
  return is_number && asks_for_all(QUIRE_CALLER) ? job().processors : QUIRE_NEXT(sysconf)(what);
}
QUIRE_LIBC int get_nprocs() noexcept {
  return asks_for_all(QUIRE_CALLER) ? job().processors : QUIRE_NEXT(get_nprocs)();
}
QUIRE_LIBC int get_nprocs_conf() noexcept {
  return asks_for_all(QUIRE_CALLER) ? job().processors : QUIRE_NEXT(get_nprocs_conf)();
}
/// std::thread::hardware_concurrency()
QUIRE_LIBC unsigned _ZNSt6thread20hardware_concurrencyEv() noexcept {
  if (asks_for_all(QUIRE_CALLER)) return static_cast<unsigned>(job().processors);
  const int here = QUIRE_NEXT(get_nprocs)();
  return here > 0 ? static_cast<unsigned>(here) : 0;
}
