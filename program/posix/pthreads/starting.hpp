// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <cstddef>

#include "os/signals_held.hpp"
#include "program/posix/threads/records.hpp"

namespace quire::program {

/// What a new thread is to be, and what has become of it. In shared memory while another node makes the thread.
struct new_thread {
  void* (*body)(void*) = nullptr;
  void* argument = nullptr;
  std::byte* top = nullptr;       ///< of the stack that the program has chosen; null: none
  std::size_t chosen_bytes = 0;   ///< of that
  std::size_t stack_bytes = 0;    ///< else
  bool has_shared_stack = false;  ///< the program has chosen one, which libc is not to use
  bool detached = false, has_affinity = false, has_schedule = false;
  int policy = 0;
  sched_param parameters{};
  cpu_set_t affinity{};
  sigset_t mask{};
  int error = 0;
  pthread_t handle{};
};

/// Of a thread's attributes, which may be null, and of the calling thread.
[[nodiscard]] new_thread describe(const pthread_attr_t* about, void* (*body)(void*), void* argument) noexcept;
/// What they say, in attributes of their own, which live on when these are destroyed. `to` is not set before.
void copy_attributes(const pthread_attr_t& from, pthread_attr_t& to) noexcept;
/// Makes a thread on this node, at a place of its own. On a private stack.
void start_here(new_thread& wanted) noexcept;
/// A place of this node whose thread has ended, and that nobody asks for any more, or a new one, for a thread of a
/// given state; 0: there is none.
[[nodiscard]] std::size_t take_place(std::uint32_t state) noexcept;
/// The thread could not be made.
void give_place(std::size_t number) noexcept;
/// The threads of this node may not end, and no place goes to another thread, as long as this lives. No handler of the
/// program interrupts the caller, as it may ask the same.
class places_held {
 public:
  places_held() noexcept;
  places_held(const places_held&) = delete;
  places_held& operator=(const places_held&) = delete;
  ~places_held();

 private:
  os::signals_held none_;
};

/// At the start: `tell` has the lead threads of other nodes make places for so many threads of the job, together with
/// the caller, who is on node 0.
void tell_of_places_by(void (*tell)(int threads)) noexcept;
/// Node 0: so many places for each node. A collective call of all nodes' lead threads and the caller.
void make_places_on_all(int each) noexcept;
/// Node 0, before the job ends: no more of these.
void stop_making_places() noexcept;
/// How many each node has in the beginning.
[[nodiscard]] int first_places() noexcept;

}  // namespace quire::program
