// SPDX-License-Identifier: BSD-3-Clause
// Where shared memory was allocated: for each page of the heap that this node has allocated in, how many blocks, and
// the calls that led to the first of them. So statistics can name the allocation of a page that moves. The tables have
// fixed sizes; what does not fit is not known. Application threads, any number at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire::api::sites {

/// A block was given out by one of the functions of the C API, which called this.
void on_allocated(std::uint64_t address, std::uint64_t bytes) noexcept;

/// A region goes: what was allocated in it is no more. Any thread.
void forget(std::uint64_t first, std::uint64_t bytes) noexcept;

struct known {
  std::uint64_t blocks = 0, bytes = 0;  ///< allocated so far, on the pages asked for; of one large block, that one
  std::vector<std::string> calls{};     ///< "file+0x1234", the innermost first; libquire's own are left out
};
/// Of the pages of [first, first + bytes). No blocks: nothing is known.
[[nodiscard]] known of(std::uint64_t first, std::uint64_t bytes);

/// Of static data of the program or of a library, "file+0x1234"; else empty.
[[nodiscard]] std::string static_place(std::uint64_t address);

}  // namespace quire::api::sites
