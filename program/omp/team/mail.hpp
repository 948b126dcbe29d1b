// SPDX-License-Identifier: BSD-3-Clause
// Words that nodes send each other while a region runs: tasks to be had, tasks that have ended, arrivals at barriers.
// Each node has a page of its own in which others put words by an atomic operation, which is done where the page lies;
// the node itself finds them without a message.
#pragma once

#include "program/omp/team/letter.hpp"

namespace quire::program {

/// Collective, once, where words will be sent.
void open_mail();
/// False: the other node has too many that it has not looked at.
[[nodiscard]] bool try_send(int node, const letter& l) noexcept;
/// The next one for this node, and who has sent it. False: there is none. One thread at a time.
[[nodiscard]] bool receive(letter& l, int& from) noexcept;

}  // namespace quire::program
