// SPDX-License-Identifier: BSD-3-Clause
// Threads that the program makes itself: they run on the node where they are made, on a shared stack, as others may follow pointers to what is on it.
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"
#include "openmp/memory/release_heap.hpp"
#include "openmp/memory/stacks.hpp"
#include "openmp/threads/own_threads.hpp"

extern "C" {
void* __libc_malloc(std::size_t);
void __libc_free(void*);
}

namespace quire::openmp {
namespace {

std::atomic<int> g_running{0};

/// Private, and the thread's own.
struct beginning {
  void* (*body)(void*);
  void* argument;
  std::byte* top;        ///< null: it gets a stack of `bytes`
  std::size_t bytes;
  void* result;
};

/// At the end of a thread, however that comes, and on its private stack.
void end(void* at) noexcept {
  auto* const b = static_cast<beginning*>(at);
  if (b->bytes != 0) give_stack_back(b->top, b->bytes);
  __libc_free(b);
  g_running.fetch_sub(1);
}

pthread_key_t key_of_end() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    (void)::pthread_key_create(&made, end);
    return made;
  }();
  return key;
}

void* run(void* at) {
  auto* const b = static_cast<beginning*>(at);
  if (b->bytes != 0) b->top = take_stack(b->bytes);
  (void)::pthread_setspecific(key_of_end(), b);
  remember_private_stack();
  call_on(b->top, [](void* of) {
    auto& self = *static_cast<beginning*>(of);
    self.result = self.body(self.argument);
  }, b);
  return b->result;
}

std::size_t stack_bytes(const pthread_attr_t* about) noexcept {
  constexpr std::size_t usual = 8u << 20, most = std::size_t{1} << 36;
  std::size_t bytes = usual;
  if (about != nullptr) (void)::pthread_attr_getstacksize(about, &bytes);
  return bytes > most ? usual : (bytes + 4095) / 4096 * 4096;
}

/// The stack that the program has chosen, if that is shared: the thread itself gets another one then. So do its functions, where that one has release
/// consistency: variables on stacks may be flags.
struct chosen_stack {
  bool is_shared = false;
  std::byte* top = nullptr;  ///< null: none that is of use
};
chosen_stack stack_of(const pthread_attr_t* about) noexcept {
  void* stack = nullptr;
  std::size_t bytes = 0;
  if (about == nullptr || ::pthread_attr_getstack(about, &stack, &bytes) != 0 || !in_heap(stack)) return {};
  return {true, in_release_heap(stack) ? nullptr : static_cast<std::byte*>(stack) + bytes};
}

}  // namespace

int own_threads() noexcept { return g_running.load(); }

}  // namespace quire::openmp

using namespace quire::openmp;

QUIRE_LIBC int pthread_create(pthread_t* thread, const pthread_attr_t* about, void* (*body)(void*), void* argument) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(pthread_create)(thread, about, body, argument);
  auto* const b = static_cast<beginning*>(__libc_malloc(sizeof(beginning)));
  if (b == nullptr) return EAGAIN;
  const chosen_stack chosen = stack_of(about);
  *b = {body, argument, chosen.top, chosen.top != nullptr ? 0 : stack_bytes(about), nullptr};
  pthread_attr_t plain;
  if (chosen.is_shared) {
    int detached = PTHREAD_CREATE_JOINABLE;
    (void)::pthread_attr_getdetachstate(about, &detached);
    (void)::pthread_attr_init(&plain);
    (void)::pthread_attr_setdetachstate(&plain, detached);
  }
  g_running.fetch_add(1);
  const int error = QUIRE_NEXT(pthread_create)(thread, chosen.is_shared ? &plain : about, run, b);
  if (error == 0) return 0;
  g_running.fetch_sub(1);
  __libc_free(b);
  return error;
}
