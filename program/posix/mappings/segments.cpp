// SPDX-License-Identifier: BSD-3-Clause
// System V segments are of node 0, as files are: an address where another node has attached one would be good there
// only, and may be another host's. What node 0 attaches is private memory of node 0 (loader/start/crash.cpp).
#include <errno.h>
#include <sys/shm.h>

#include "program/posix/errands/where.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {
bool is_elsewhere(const char* call, const void* caller) noexcept {
  if (node_of(new_one(), caller) == here) return false;
  refuse_mapping(
      call, nullptr,
      "System V segments are of node 0, as files are: make the call there, or use memory of malloc() or mmap()");
  return true;
}
}  // namespace

QUIRE_LIBC int shmget(key_t key, std::size_t bytes, int flags) noexcept {
  return is_elsewhere("shmget()", QUIRE_CALLER) ? -1 : QUIRE_NEXT(shmget)(key, bytes, flags);
}
QUIRE_LIBC int shmctl(int id, int what, shmid_ds* about) noexcept {
  return is_elsewhere("shmctl()", QUIRE_CALLER) ? -1 : QUIRE_NEXT(shmctl)(id, what, about);
}
QUIRE_LIBC void* shmat(int id, const void* at, int flags) noexcept {
  if (is_elsewhere("shmat()", QUIRE_CALLER)) return reinterpret_cast<void*>(-1);
  if (shared_part(at, mapped_page, QUIRE_CALLER) == part::none) return QUIRE_NEXT(shmat)(id, at, flags);
  refuse_mapping("shmat()", at,
                 "the memory is shared by all nodes, and a segment is of one: leave the address to the system");
  return reinterpret_cast<void*>(-1);
}
QUIRE_LIBC int shmdt(const void* at) noexcept {
  return is_elsewhere("shmdt()", QUIRE_CALLER) ? -1 : QUIRE_NEXT(shmdt)(at);
}
