// SPDX-License-Identifier: BSD-3-Clause
// Thread-specific data of a program whose threads are on all nodes: a key is made once, and is good on all nodes. Its
// numbers are none of libc's.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <threads.h>

#include "program/posix/heap/heap.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/interpose.hpp"
#include "program/process/private_memory.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {
namespace {

constexpr std::uint32_t first_key = 1u << 24, most_keys = threads_state::most_keys;

/// Of a thread. Private: threads do not move.
struct value {
  std::uint32_t sequence;
  void* is;
};
thread_local constinit value* t_values = nullptr;

bool is_used(std::uint32_t sequence) noexcept { return sequence % 2 == 1; }

/// Null: no key of these, or not any more; a library may ask when the job has ended.
thread_key* find(pthread_key_t key) noexcept {
  if (key < first_key || key - first_key >= most_keys || !are_threads_open()) return nullptr;
  thread_key& k = threads().keys[key - first_key];
  return is_used(load(k.sequence)) ? &k : nullptr;
}

int make(pthread_key_t* key, void (*destroy)(void*)) noexcept {
  for (std::uint32_t i = 0; i < most_keys; ++i) {
    thread_key& k = threads().keys[i];
    const std::uint32_t now = load(k.sequence);
    if (is_used(now) || !swap(k.sequence, now, now + 1)) continue;
    __atomic_store_n(&k.destroy, destroy, __ATOMIC_RELEASE);
    *key = first_key + i;
    return 0;
  }
  return EAGAIN;
}

int remove(pthread_key_t key) noexcept {
  thread_key* const k = find(key);
  if (k == nullptr) return EINVAL;
  const std::uint32_t now = load(k->sequence);
  return is_used(now) && swap(k->sequence, now, now + 1) ? 0 : EINVAL;
}

int set(pthread_key_t key, std::uintptr_t to) noexcept {
  const thread_key* const k = find(key);
  if (k == nullptr) return EINVAL;
  if (t_values == nullptr) {
    if (to == 0) return 0;
    t_values = static_cast<value*>(take_private(most_keys * sizeof(value)));
    for (std::uint32_t i = 0; i < most_keys; ++i) t_values[i] = {};
  }
  t_values[key - first_key] = {load(k->sequence), reinterpret_cast<void*>(to)};
  return 0;
}

void* get(pthread_key_t key) noexcept {
  if (t_values == nullptr) return nullptr;
  const thread_key* const k = find(key);
  if (k == nullptr) return nullptr;
  const value& v = t_values[key - first_key];
  return v.sequence == load(k->sequence) ? v.is : nullptr;
}

/// Whether there was anything to do.
bool destroy_once() {
  bool any = false;
  for (std::uint32_t i = 0; i < most_keys; ++i) {
    value& v = t_values[i];
    if (v.is == nullptr) continue;
    void* const was = v.is;
    v.is = nullptr;
    const thread_key& k = threads().keys[i];
    auto* const destroy = __atomic_load_n(&k.destroy, __ATOMIC_ACQUIRE);
    if (v.sequence != load(k.sequence) || destroy == nullptr) continue;
    any = true;
    destroy(was);
  }
  return any;
}

}  // namespace

void destroy_values(own_thread&) {
  if (t_values == nullptr) return;
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS && destroy_once(); ++round) {
  }
  give_private(t_values);
  t_values = nullptr;
}

}  // namespace quire::program

using namespace quire::program;

#define QUIRE_KEY_CREATE(name)                                                   \
  QUIRE_LIBC int name(pthread_key_t* key, void (*destroy)(void*)) noexcept {     \
    if (has_placement() && for_program(QUIRE_CALLER)) return make(key, destroy); \
    return QUIRE_NEXT(pthread_key_create)(key, destroy);                         \
  }
QUIRE_KEY_CREATE(pthread_key_create)
QUIRE_KEY_CREATE(__pthread_key_create)
QUIRE_LIBC int pthread_key_delete(pthread_key_t key) noexcept {
  return key >= first_key ? remove(key) : QUIRE_NEXT(pthread_key_delete)(key);
}
QUIRE_LIBC int pthread_setspecific(pthread_key_t key, const void* to) noexcept {
  return key >= first_key ? set(key, reinterpret_cast<std::uintptr_t>(to)) : QUIRE_NEXT(pthread_setspecific)(key, to);
}
QUIRE_LIBC void* pthread_getspecific(pthread_key_t key) noexcept {
  return key >= first_key ? get(key) : QUIRE_NEXT(pthread_getspecific)(key);
}

QUIRE_LIBC int tss_create(tss_t* key, tss_dtor_t destroy) {
  if (has_placement() && for_program(QUIRE_CALLER)) return make(key, destroy) == 0 ? thrd_success : thrd_error;
  return QUIRE_NEXT(tss_create)(key, destroy);
}
QUIRE_LIBC void tss_delete(tss_t key) { key >= first_key ? (void)remove(key) : QUIRE_NEXT(tss_delete)(key); }
QUIRE_LIBC int tss_set(tss_t key, void* to) {
  if (key < first_key) return QUIRE_NEXT(tss_set)(key, to);
  return set(key, reinterpret_cast<std::uintptr_t>(to)) == 0 ? thrd_success : thrd_error;
}
QUIRE_LIBC void* tss_get(tss_t key) { return key >= first_key ? get(key) : QUIRE_NEXT(tss_get)(key); }
