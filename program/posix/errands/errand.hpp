// SPDX-License-Identifier: BSD-3-Clause
// A call that is made on another node, by a clerk: a thread of Quire's there, which sleeps at a page of shared memory,
// its desk, until somebody of this node has something for it. A call may block: only its own clerk waits then. Where a
// thread holds the lock of a stream, the clerk that has it stays the thread's.
#pragma once

#include <errno.h>
#include <quire/quire.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "program/job/job.hpp"
#include "program/posix/threads/desk.hpp"

namespace quire::program {

struct clerk_of_other;

class errand {
 public:
  explicit errand(int node) noexcept;
  errand(const errand&) = delete;
  errand& operator=(const errand&) = delete;
  ~errand();

  /// Makes call() there, where it finds what it has captured. errno is the call's.
  template <class Call>
  auto run(const Call& call) noexcept {
    using result = decltype(call());
    static_assert(std::is_trivially_copyable_v<result> && sizeof(result) <= desk::result_room &&
                  sizeof(Call) <= desk::call_room && alignof(Call) <= 16);
    desk& d = at_desk();
    (void)new (d.call) Call(call);
    d.what = [](desk& there) {
      (void)new (there.result) result((*std::launder(reinterpret_cast<Call*>(there.call)))());
    };
    wait();
    return *std::launder(reinterpret_cast<result*>(d.result));
  }

  /// What the call reads, at an address that is good there too. Shared memory stays where it is.
  template <class T>
  const T* take(const T* from, std::size_t bytes) noexcept {
    return static_cast<const T*>(carry(from, bytes));
  }
  const char* take(const char* text) noexcept;
  /// Where the call writes so many bytes at most for `to`, and bring() gets them.
  template <class T>
  T* room_for(T* to, std::size_t bytes) noexcept {
    return static_cast<T*>(make_room(to, bytes));
  }
  void bring(void* to, const void* room, std::size_t bytes) noexcept {
    if (to != room && bytes != 0) std::memcpy(to, room, bytes);
  }
  /// Both.
  template <class T>
  T* take_along(T* what, std::size_t bytes) noexcept {
    T* const there = room_for(what, bytes);
    if (there != what) std::memcpy(static_cast<void*>(there), what, bytes);
    return there;
  }

  /// Room for `bytes`, which begin with the first `count` parts, as far as they fit.
  char* joined(const iovec* parts, int count, std::size_t bytes) noexcept;

  /// The clerk is the thread's own until let_go() has been called as often.
  void hold() noexcept;
  void let_go() noexcept;

 private:
  [[nodiscard]] desk& at_desk() noexcept;
  void wait() noexcept;
  void give_back() noexcept;
  const void* carry(const void* from, std::size_t bytes) noexcept;
  void* make_room(void* to, std::size_t bytes) noexcept;
  void* on_desk(std::size_t bytes) noexcept;
  void* of_heap(std::size_t bytes) noexcept;

  clerk_of_other* clerk_;
  bool broken_pipe_ = false;  ///< a call has raised SIGPIPE
  std::size_t used_ = 0;
  static constexpr std::size_t most_blocks = 4;
  void* blocks_[most_blocks] = {};  ///< of the heap, for what is too large
  std::size_t block_count_ = 0;
};

/// call() on a node: here, if that is this one.
template <class Call>
auto call_on_node(int node, const Call& call) noexcept {
  if (node == job().node) return call();
  errand e(node);
  return e.run(call);
}

/// A clerk on each other node, for handlers of the program: they may interrupt the allocator, which making one needs.
void prepare_clerks() noexcept;
/// Node 0, when the job ends: all clerks do. False: a thread is in a call, which may last for ever.
[[nodiscard]] bool dismiss_clerks() noexcept;

}  // namespace quire::program
