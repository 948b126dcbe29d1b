// SPDX-License-Identifier: BSD-3-Clause
// A large object that is updated becomes sequential, for good, while the program runs: a thread asks for it and waits;
// a control thread of each node takes what was asked for from a list in shared memory, in its order, and the control
// threads change the region together (quire_region_set_consistency_by()).
#pragma once

#include <cstdint>

namespace quire::program::watch {

/// Collective, where memory is mixed: control threads begin.
void open_demotion();
/// Before the job ends. Node 0 tells all control threads to stop (`tells`), and each node waits for its own.
void tell_end_of_demotion() noexcept;
void close_demotion() noexcept;

/// Before an update by Quire's own code of a word of the program's, as of a mutex: it is not lost.
void before_update(const void* at) noexcept;
/// The same for stubs, which have saved all registers; and is_release() is true.
extern "C" void quire_own_demote(std::uint64_t address) noexcept;

}  // namespace quire::program::watch
