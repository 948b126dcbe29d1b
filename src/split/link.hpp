// SPDX-License-Identifier: BSD-3-Clause
// How a request travels: in the mailbox itself, or over a Unix socket as in ParADE (one a thread), to compare.
#pragma once

#include "split/board.hpp"

namespace quire::split {

enum class way : std::uint8_t { ring, socket };

/// Application's side: posts what is in the mailbox, and waits for the answer, which replaces it.
template <class F>
void exchange(mailbox& m, std::uint64_t spin_ns, F&& meanwhile) noexcept;

/// Engine's side: waits for a request, runs it, and answers.
void serve_one(mailbox& m, std::uint64_t spin_ns, void (*run)(request&)) noexcept;

/// Sockets for all threads that can have one. Before the fork. 0 or errno.
[[nodiscard]] int make_sockets(board& b) noexcept;

void exchange_by_socket(mailbox& m) noexcept;

template <class F>
void exchange(mailbox& m, std::uint64_t spin_ns, F&& meanwhile) noexcept {
  if (m.sockets[0] >= 0) return exchange_by_socket(m);
  m.state.set(mailbox::posted);
  m.state.wait_until(mailbox::is_done, spin_ns, -1, meanwhile);
}

}  // namespace quire::split
