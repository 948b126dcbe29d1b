// SPDX-License-Identifier: BSD-3-Clause
// Threads on other nodes (the programming model of Millipage): spawn and join, services/threads.hpp decides. A function
// travels as module and offset, so that it is found where the program is loaded elsewhere.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>

#include "core/core.hpp"
#include "model/message.hpp"
#include "services/threads.hpp"

namespace quire::api {

/// A thread that the library has started, and that nobody joins, is within the library: quire_end() takes nothing down
/// before it has left. Who waits for its answer may call quire_end() while the thread, which has given the answer, is
/// still on its way out. Of a process.
class own_visit {
 public:
  own_visit() noexcept { under_way_.fetch_add(1); }
  ~own_visit() { under_way_.fetch_sub(1); }
  own_visit(const own_visit&) = delete;
  own_visit& operator=(const own_visit&) = delete;
  /// Until there is none. No new call finds the node any more.
  static void wait_for_all() noexcept;

 private:
  static inline std::atomic<unsigned> under_way_{0};
};

class thread_service {
 public:
  /// Begins a thread for what another node asks for, in the application's process and not on the driver, which has
  /// asked for it. It gets a plan, and returns 0 or errno; then a request is refused.
  using procedure = int (*)(const std::byte*);
  /// `spawned`: for quire_spawn() of other nodes.
  thread_service(core::core& e, procedure spawned);
  ~thread_service();
  thread_service(const thread_service&) = delete;
  thread_service& operator=(const thread_service&) = delete;

  static constexpr std::size_t longest_module = 220;
  /// What a new thread is given. It may be of another process than the engine (pool 'fork').
  struct plan {
    model::message request;
    std::uint32_t length = 0;
    std::array<char, longest_module> module;
  };

  /// Driver's thread.
  void start(procedure begins, const plan& what);

  /// Starts what lies at `offset` of `module` (its base name; the program's is empty).
  [[nodiscard]] base::status spawn(int node, std::string_view module, std::uint64_t offset, std::uint64_t argument,
                                   std::uint64_t& id);
  [[nodiscard]] base::status join(std::uint64_t id, std::uint64_t& result);

  // Of a node that leaves; driver's thread.
  /// No thread begins here any more, unless there are some: how many run, begin, or are not joined.
  [[nodiscard]] std::size_t close() noexcept {
    closed_ = begin_ + here_.count() == 0;
    return begin_ + here_.count();
  }
  void open() noexcept { closed_ = false; }

  /// Called by a new thread: whether it has found its function. Its number, or 0 if it has not.
  [[nodiscard]] std::uint64_t started(const model::message& request, bool found) noexcept;
  void finished(std::uint64_t id, std::uint64_t result) noexcept;

 private:
  struct order {
    procedure begins;
    plan what;
  };
  /// The starter: pthread_create() takes locks of libc and of the dynamic linker. A thread of the program may have them
  /// while it waits for a page of a stack that is shared, and only the driver can bring that page: the driver must not
  /// wait for these locks.
  void start_threads() noexcept;
  void refuse(const plan& what) noexcept;
  void on_spawn(const model::message& m, std::span<const std::byte> value);
  void on_join(const model::message& m);
  template <class F>
  void on_driver(F f) noexcept;

  core::core& core_;
  const procedure spawned_;
  services::threads here_;  ///< driver's thread, as the next two
  std::size_t begin_ = 0;   ///< threads that are about to
  bool closed_ = false;
  std::mutex mutex_{};  ///< for the next two
  std::deque<order> orders_{};
  bool stopping_ = false;
  std::condition_variable wake_{};
  std::thread starter_{};
};

}  // namespace quire::api
