// SPDX-License-Identifier: BSD-3-Clause
// Memory of this node alone, whatever stack the caller is on: libc's own, past the malloc(3) of heap.cpp.
#include "program/process/fail.hpp"
#include "program/process/libc_heap.hpp"
#include "program/process/private_memory.hpp"

namespace quire::program {

void* take_private(std::size_t bytes) noexcept {
  void* const at = libc_malloc(bytes);
  if (at == nullptr) fail("no memory for the runtime's own records", QUIRE_NO_MEMORY);
  return at;
}
void give_private(void* at) noexcept { libc_free(at); }

}  // namespace quire::program
