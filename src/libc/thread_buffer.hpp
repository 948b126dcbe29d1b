// SPDX-License-Identifier: BSD-3-Clause
// Private memory of a thread for the copies of its calls, where its stack is shared: mapping some for each call takes
// longer than most calls. It is mapped at the first need, and goes with the thread. A call of a signal's handler takes
// what is behind that of the call that it interrupts. Application threads, signal handlers.
#pragma once

#include <cstddef>

namespace quire::api::calls {

/// Null: there is no room. What it has is of no value.
[[nodiscard]] char* take_of_buffer(std::size_t bytes) noexcept;
/// The last one that was taken, and that was not given back.
void give_to_buffer(char* taken) noexcept;

}  // namespace quire::api::calls
