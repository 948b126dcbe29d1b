// SPDX-License-Identifier: BSD-3-Clause
// Spin locks of pthreads in shared memory, whose word a waiting thread only reads; others are libc's. With libc 1 is
// free.
#include <errno.h>
#include <pthread.h>

#include "program/posix/errands/output.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

using namespace quire::program;

namespace {

std::uint32_t& of(pthread_spinlock_t* l) noexcept {
  return *const_cast<std::uint32_t*>(reinterpret_cast<volatile std::uint32_t*>(l));
}
bool take_spin_lock(std::uint32_t& word) noexcept { return load(word) == 1 && swap(word, 1, 0); }

}  // namespace

QUIRE_LIBC int pthread_spin_lock(pthread_spinlock_t* l) noexcept {
  if (!is_for_all_nodes(const_cast<int*>(l))) return QUIRE_NEXT(pthread_spin_lock)(l);
  (void)!wait_until([l] { return take_spin_lock(of(l)); });
  return 0;
}
QUIRE_LIBC int pthread_spin_trylock(pthread_spinlock_t* l) noexcept {
  if (!is_for_all_nodes(const_cast<int*>(l))) return QUIRE_NEXT(pthread_spin_trylock)(l);
  return take_spin_lock(of(l)) ? 0 : EBUSY;
}
QUIRE_LIBC int pthread_spin_unlock(pthread_spinlock_t* l) noexcept {
  if (!is_for_all_nodes(const_cast<int*>(l))) return QUIRE_NEXT(pthread_spin_unlock)(l);
  write_output();
  store(of(l), 1);
  return 0;
}
