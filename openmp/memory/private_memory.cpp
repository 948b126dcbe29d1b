// SPDX-License-Identifier: BSD-3-Clause
// Memory of this node alone, whatever stack the caller is on: libc's own, past the malloc(3) of heap.cpp.
#include "openmp/start/fail.hpp"
#include "openmp/tasks/memory.hpp"

extern "C" {
void* __libc_malloc(std::size_t);
void __libc_free(void*);
}

namespace quire::openmp {

void* take_private(std::size_t bytes) noexcept {
  void* const at = __libc_malloc(bytes);
  if (at == nullptr) fail("no memory for the runtime's own records", QUIRE_NO_MEMORY);
  return at;
}
void give_private(void* at) noexcept { __libc_free(at); }

}  // namespace quire::openmp
