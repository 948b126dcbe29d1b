// SPDX-License-Identifier: BSD-3-Clause
// Threads that run on this node because another thread has asked for them (quire_spawn(), quire_join()). A machine:
// what becomes of a thread, and requests of who waits for its end, go in; answers come out. Driver's thread.
//
// It promises: each thread that has started is joined by one call, which gets what its function has returned; a call
// that comes too late hears so; and nobody who lives waits for a thread that has ended.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fault_heap.hpp"
#include "services/services.hpp"

namespace quire::services {

class threads {
 public:
  explicit threads(node_id self) noexcept : self_(self) {}

  /// A thread has begun for `request`, or cannot: QUIRE_NOT_FOUND, it has no such function; QUIRE_NO_MEMORY. Gives its
  /// number, which names this node too; 0: there is none.
  std::uint64_t on_started(const message& request, quire_status why, answers& out);
  void on_finished(std::uint64_t number, std::uint64_t result, answers& out);
  /// `a` of the request is the number. QUIRE_NOT_FOUND: another call waits for it, or has joined it.
  void on_join(const message& request, answers& out);
  /// A node is lost, and the job goes on: what it waited for another one may join.
  void on_death(node_id node);

  [[nodiscard]] static constexpr unsigned node_of(std::uint64_t number) noexcept {
    return static_cast<unsigned>(number >> 48);
  }
  /// That run, or have ended and are not joined.
  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }

 private:
  struct thread {
    bool finished = false;
    bool awaited = false;
    std::uint64_t result = 0;
    message join{};  ///< of who waits
  };
  node_id self_;
  std::uint64_t last_ = 0;
  base::fault_map<std::uint64_t, thread> all_{};
};

}  // namespace quire::services
