// SPDX-License-Identifier: BSD-3-Clause
// What a region's function reads of the master's frame: a block of values and addresses that the compiler has made. If
// the function only reads it, and adds to words of it, the message that begins the region brings it to the other nodes,
// and the page of the frame stays where the master needs it. Node 0's main thread only, but for what says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/sites/argument.hpp"

namespace quire::program {

/// At the start, while one thread runs: what reads instructions is loaded.
void open_arguments() noexcept;
/// What a region's function does with its data. `code`: bytes of its instructions, from its address on.
struct data_use : sites::block_use {
  std::uint32_t code = 0;
};
/// With the first `most` bytes of its data, by its code, looked at once for each function. Null: it may do anything
/// with them.
[[nodiscard]] const data_use* use_of_data(void (*what)(void* data), std::size_t most) noexcept;
/// A library has gone, or may have: other code may stand where its functions were. Any thread.
void forget_arguments() noexcept;

}  // namespace quire::program
