// SPDX-License-Identifier: BSD-3-Clause
// Teams: threads on all nodes that work on one thing, as an OpenMP parallel region has them in one process.
//
//     quire::team all(4);                             // one thread of each node: four threads on each
//     all.run([&](quire::member& me) {
//       for (double& x : me.my_part(v.size()).of(v)) x *= 2;
//       me.wait();                                    // all threads of all nodes
//       const double total = me.sum(...);
//     });
//     all.for_each(n, [&](std::size_t i) { v[i] += 1; });
//
// quire::parallel_for() is a team for one loop. An exception that leaves the work ends the program, as with
// std::thread: other threads may wait for this one.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <quire/group.hpp>

namespace quire {
namespace detail {

/// The membership of the calling thread in the team that it works for.
inline thread_local const member* my_member = nullptr;

}  // namespace detail

/// The calling thread's block of `n` indices: of all threads of the team that it works for, else of one thread of each
/// node.
[[nodiscard]] inline index_range my_part(std::size_t n) {
  if (detail::my_member != nullptr) return detail::my_member->my_part(n);
  return part_of(n, static_cast<std::size_t>(node()), static_cast<std::size_t>(nodes()));
}

/// Threads on all nodes. One thread of each node makes it, calls its functions, and destroys it, at the same points of
/// the program: all of them are barriers of the team. That thread is a member itself, at place 0.
class team {
 public:
  /// `threads` of this node; nodes may differ. 0: as many as cores, shared among as many nodes as the job has (right
  /// where all of them are on one host).
  explicit team(unsigned threads = 0)
      : threads_(threads != 0 ? threads : share_of_cores()), group_(group::create(threads_)), me_(group_, 0) {
    for (unsigned place = 1; place < threads_; ++place) others_.emplace_back([this, place] { serve(place); });
    me_.wait();
  }
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team() {
    stop_ = true;
    begin();
    for (auto& t : others_) t.join();
    // When an exception ends this node's part, nobody knows what the others wait for (quire::session).
    if (std::uncaught_exceptions() == exceptions_) (void)quire_group_destroy(group_.native_handle());
  }

  /// Threads of all nodes.
  [[nodiscard]] std::size_t size() const noexcept { return me_.count(); }

  /// work(me), on all threads of all nodes. Ends when all have ended it.
  template <std::invocable<member&> Work>
  void run(Work&& work) {
    using type = std::remove_reference_t<Work>;
    call_ = [](void* what, member& me) noexcept { (*static_cast<type*>(what))(me); };
    what_ = const_cast<void*>(static_cast<const void*>(std::addressof(work)));
    begin();
    execute(me_);
  }

  /// f(i) for each i below n, or f(range) for blocks of them: each thread of each node has one block. Ends when all are
  /// done.
  template <class F>
  requires(std::invocable<F&, std::size_t> || std::invocable<F&, index_range>) void for_each(std::size_t n, F&& f) {
    run([&](member& me) {
      const index_range mine = me.my_part(n);
      if constexpr (std::invocable<F&, std::size_t>) {
        for (std::size_t i = mine.first; i < mine.last; ++i) f(i);
      } else {
        f(mine);
      }
    });
  }

 private:
  static unsigned share_of_cores() noexcept {
    return std::max(1u, std::thread::hardware_concurrency() / static_cast<unsigned>(nodes()));
  }
  void begin() noexcept {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  /// Ends with a barrier of the team, so what is executed stays until then.
  void execute(member& me) noexcept {
    const member* const before = std::exchange(detail::my_member, &me);
    call_(what_, me);
    detail::my_member = before;
    me.wait();
  }
  void serve(unsigned place) noexcept {
    member me(group_, place);
    me.wait();
    for (std::uint32_t round = 0;; ++round) {
      round_.wait(round, std::memory_order_acquire);
      if (stop_) return;
      execute(me);
    }
  }

  unsigned threads_;
  group group_;
  member me_;
  std::vector<std::thread> others_{};
  std::atomic<std::uint32_t> round_{0};  ///< so much was begun
  bool stop_ = false;
  int exceptions_ = std::uncaught_exceptions();
  void (*call_)(void*, member&) noexcept = nullptr;
  void* what_ = nullptr;
};

/// f(i) for each i below n, or f(range), by `threads` threads of each node (0: see team). One thread of each node
/// calls; ends when all are done.
template <class F>
requires(std::invocable<F&, std::size_t> || std::invocable<F&, index_range>) void parallel_for(std::size_t n, F&& f,
                                                                                               unsigned threads = 0) {
  team all(threads);
  all.for_each(n, std::forward<F>(f));
}

}  // namespace quire
