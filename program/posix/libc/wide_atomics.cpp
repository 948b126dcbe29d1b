// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations on objects for which the processor has no instruction: libatomic has locks for these, each node its
// own. Where the object is shared a lock of the job takes their place.
#include <quire/quire.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "program/job/shared_state.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/interpose.hpp"
#include "program/process/watch/demotion.hpp"

using namespace quire::program;

namespace {

/// Of the sizes that have an instruction, where they are aligned.
bool has_instruction(std::size_t bytes, const volatile void* at) noexcept {
  constexpr std::size_t most = 16;
  return bytes <= most && (bytes & (bytes - 1)) == 0 && reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
}

bool needs_lock(std::size_t bytes, const volatile void* at) noexcept {
  watch::before_update(const_cast<const void*>(at));
  quire_region of{};
  return bytes != 0 && !has_instruction(bytes, at) && quire_region_of(const_cast<const void*>(at), &of) == QUIRE_OK;
}

class held_lock {
 public:
  held_lock() noexcept { lock(shared().atomics); }
  held_lock(const held_lock&) = delete;
  held_lock& operator=(const held_lock&) = delete;
  ~held_lock() { unlock(shared().atomics); }
};

template <class Function>
Function* real(const char* name) noexcept {
  return next<Function>(name);
}

}  // namespace

// gcc has built-in functions of the same names with other arguments, so that these have names of their own here.
#define QUIRE_ATOMIC_NAME(name) __asm__(name)
extern "C" {
__attribute__((visibility("default"))) void quire_atomic_load(std::size_t bytes, void* at, void* to, int order)
    QUIRE_ATOMIC_NAME("__atomic_load");
__attribute__((visibility("default"))) void quire_atomic_store(std::size_t bytes, void* at, void* from, int order)
    QUIRE_ATOMIC_NAME("__atomic_store");
__attribute__((visibility("default"))) void quire_atomic_exchange(std::size_t bytes, void* at, void* from, void* to,
                                                                  int order) QUIRE_ATOMIC_NAME("__atomic_exchange");
__attribute__((visibility("default"))) bool quire_atomic_compare_exchange(std::size_t bytes, void* at, void* expected,
                                                                          void* wanted, int order, int otherwise)
    QUIRE_ATOMIC_NAME("__atomic_compare_exchange");
}

void quire_atomic_load(std::size_t bytes, void* at, void* to, int order) {
  if (!needs_lock(bytes, at)) return real<void(std::size_t, void*, void*, int)>("__atomic_load")(bytes, at, to, order);
  const held_lock held;
  std::memcpy(to, at, bytes);
}

void quire_atomic_store(std::size_t bytes, void* at, void* from, int order) {
  if (!needs_lock(bytes, at))
    return real<void(std::size_t, void*, void*, int)>("__atomic_store")(bytes, at, from, order);
  const held_lock held;
  std::memcpy(at, from, bytes);
}

void quire_atomic_exchange(std::size_t bytes, void* at, void* from, void* to, int order) {
  if (!needs_lock(bytes, at))
    return real<void(std::size_t, void*, void*, void*, int)>("__atomic_exchange")(bytes, at, from, to, order);
  const held_lock held;
  for (std::size_t i = 0; i < bytes; ++i) {  // `from` and `to` may be the same
    const std::byte old = static_cast<std::byte*>(at)[i];
    static_cast<std::byte*>(at)[i] = static_cast<std::byte*>(from)[i];
    static_cast<std::byte*>(to)[i] = old;
  }
}

bool quire_atomic_compare_exchange(std::size_t bytes, void* at, void* expected, void* wanted, int order,
                                   int otherwise) {
  if (!needs_lock(bytes, at)) {
    return real<bool(std::size_t, void*, void*, void*, int, int)>("__atomic_compare_exchange")(
        bytes, at, expected, wanted, order, otherwise);
  }
  const held_lock held;
  const bool same = std::memcmp(at, expected, bytes) == 0;
  std::memcpy(same ? at : expected, same ? wanted : at, bytes);
  return same;
}
