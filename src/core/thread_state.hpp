// SPDX-License-Identifier: BSD-3-Clause
// What a core keeps per thread that uses it. Initialised at compile time and in static thread-local storage, so that a
// signal handler may use it without allocating.
#pragma once

#include "core/read_ahead.hpp"
#include "core/waiting.hpp"
#include "model/ids.hpp"
#include "record/recorder.hpp"
#include "sync/call.hpp"

namespace quire::core {

struct thread_state {
  sweeps stream;
  wait_note wants{};  ///< what it asks for, or has asked for last
  bool inside_transaction = false;
  bool closes_transactions = false;  ///< none of other threads of this node begins
  unsigned asking = 0;  ///< operations that it has asked for and that are not done: what it does meanwhile is no doing
                        ///< of the program's
  sync::meeting meeting = sync::meeting::none;  ///< the call of the API that its collectives are steps of

  record::thread_record* recorded = nullptr;  ///< what it did when, if somebody wants a report
  std::uint16_t event_thread = 0;             ///< its number there (record/events.hpp)

  // The fault before this one, to tell a thread that loses its units unused.
  const void* region = nullptr;
  std::uint64_t unit = 0;
  model::access want = model::access::none;
  std::uint64_t granted_ns = 0;
  unsigned lost = 0;

  /// A fault of this thread begins at `now`. How many times in a row it was let in for just this and came back at once.
  unsigned count_losses(const void* of, std::uint64_t u, model::access w, std::uint64_t now) noexcept {
    // A thread that could go on needs longer than this to be back, even when it only spins on a word.
    constexpr std::uint64_t at_once_ns = 5000;
    const bool again = of == region && u == unit && w == want && now - granted_ns < at_once_ns;
    lost = again ? lost + 1 : 0;
    region = of;
    unit = u;
    want = w;
    return lost;
  }
};

extern thread_local constinit thread_state t_own __attribute__((tls_model("initial-exec")));
/// In simulation one thread of the system runs many of programs: the state of the one whose turn it is. Else null.
extern thread_local constinit thread_state* t_simulated __attribute__((tls_model("initial-exec")));

/// Of the calling thread. A driver may use it through a pointer while the thread waits.
[[nodiscard]] inline thread_state& this_thread() noexcept { return t_simulated == nullptr ? t_own : *t_simulated; }

/// The calling thread has this number (quire_thread()): what it waits for is told with it. Costs a store.
inline void number_thread(std::uint32_t number) noexcept { this_thread().wants.thread = number; }

}  // namespace quire::core
