// SPDX-License-Identifier: BSD-3-Clause
// Words that nodes send each other while a region runs: tasks to be had, tasks that have ended, arrivals at barriers. Each node has a page of its own in
// which others put words by an atomic operation, which is done where the page lies; the node itself finds them without a message.
#pragma once

#include <cstdint>

namespace quire::openmp {

struct letter {
  enum class kind : std::uint8_t { none, arrived, released, hungry, given, ended, left };
  kind what = kind::none;
  std::uint64_t value = 0;  ///< up to 2^60: an address of shared memory, or the number of a meeting
};

/// Collective, once, where words will be sent.
void open_mail();
/// Waits while the other node has too many that it has not looked at.
void send(int node, const letter& l) noexcept;
/// The next one for this node, and who has sent it. False: there is none. One thread at a time.
[[nodiscard]] bool receive(letter& l, int& from) noexcept;

}  // namespace quire::openmp
