// SPDX-License-Identifier: BSD-3-Clause
// What all nodes know of the threads that the program makes itself, where these are on all nodes (`quire exec` of a
// program without OpenMP). A thread has a place (posix/memory/thread_data.hpp), of which its pthread_t is the
// descriptor's address; no other thread of the job has that, and the place tells the node.
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "program/posix/threads/interrupts.hpp"
#include "program/posix/threads/placement.hpp"

namespace quire::program {

struct desk;

/// In shared memory. Whoever makes a thread, ends it, waits for it or lets it go changes the state by atomic
/// operations.
struct alignas(64) thread_record {
  enum state : std::uint32_t { running = 1, ended = 2, detached = 4, awaited = 8, collected = 16, cancelled = 32 };
  std::uint32_t now = 0;  ///< 0: there is no such thread
  void* result = nullptr;
};

/// A key of thread-specific data. Values are of a thread, in its private memory.
struct thread_key {
  std::uint32_t sequence = 0;  ///< odd: in use. Values of another sequence are none
  void (*destroy)(void*) = nullptr;
};

/// In shared memory, once.
struct threads_state {
  static constexpr std::uint32_t most_keys = 1024;
  std::uint64_t made = 0;    ///< threads, up to now
  std::uint32_t living = 0;  ///< those that have not ended, without main()
  alignas(4096) std::array<thread_key, most_keys> keys{};
  alignas(4096) std::uint32_t running[1] = {};  ///< of each node; their records follow
};

/// The calling thread, if it is main() or a thread that the program has made.
struct own_thread {
  struct last_call {
    void (*what)(void*);
    void* argument;
    void* library;  ///< whose code it is
    void* held;     ///< and a handle by which it stays, where this node alone has it
    last_call* before;
  };
  thread_record* record = nullptr;  ///< null: this program's threads stay where they are made
  void* (*body)(void*) = nullptr;
  void* argument = nullptr;
  std::byte* top = nullptr;     ///< of its shared stack
  std::size_t stack_bytes = 0;  ///< 0: the program has given it
  std::size_t given_bytes = 0;  ///< then
  void* result = nullptr;
  jmp_buf beginning;  ///< where it ends (posix/pthreads)
  bool has_beginning = false;
  bool leaves = false;  ///< by pthread_exit(3), which has told the result; or it has come to its end
  int cancel_state = PTHREAD_CANCEL_ENABLE, cancel_type = PTHREAD_CANCEL_DEFERRED;
  std::uint32_t cancelled = 0;  ///< where it has no record; changed by atomic operations
  pthread_t handle{};
  own_thread* next = nullptr;       ///< of this node's (cancellation.cpp)
  last_call* last_calls = nullptr;  ///< destructors of thread_local objects
  sigset_t mask{};
  interruptible call;                    ///< that is a cancellation point
  std::atomic<desk*> asked{nullptr};     ///< where a clerk makes it
  std::atomic<std::uint64_t> turn_of{};  ///< there, and the clerk's node in the upper half
  std::atomic<bool> restarts{true};      ///< where a handler's SA_RESTART says so
};

/// What `quire exec` has set, before restore_environment(). Ends the process if it is no placement.
void choose_placement() noexcept;
/// Whether the program's threads are on all nodes. So also in a job of one node.
[[nodiscard]] bool has_placement() noexcept;
[[nodiscard]] const placement& threads_placement() noexcept;

/// Collective, once, after open_thread_data().
void open_threads();
/// Before the program's memory goes.
void close_threads() noexcept;
[[nodiscard]] bool are_threads_open() noexcept;
[[nodiscard]] threads_state& threads() noexcept;
/// Whether the program has threads on some node, but for main() where that ends it.
[[nodiscard]] bool do_threads_run() noexcept;
/// Threads that run on a node.
[[nodiscard]] std::uint32_t& running_on(int node) noexcept;
[[nodiscard]] thread_record& record_of(int node, std::size_t number) noexcept;

struct thread_place {
  int node = -1;  ///< none
  std::size_t number = 0;
};
/// Whose pthread_t it is. None: of a thread that is not the program's, or of none.
[[nodiscard]] thread_place place_of(pthread_t thread) noexcept;

/// Null: the caller is none of these.
[[nodiscard]] own_thread* own() noexcept;
void set_own(own_thread* self) noexcept;
/// A number that no other thread has as long as this one lives; 0: the caller has no place.
[[nodiscard]] std::uint32_t number_of_own() noexcept;
/// The thread that runs main(), on node 0.
void begin_own_main() noexcept;

}  // namespace quire::program
