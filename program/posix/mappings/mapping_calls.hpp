// SPDX-License-Identifier: BSD-3-Clause
// Calls that change mappings, by whatever name the program makes them: `caller` is the return address of the call, and
// decides whether it is one of the program. Results and errno are those of the call.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace quire::program {

[[nodiscard]] void* map_memory(void* at, std::size_t bytes, int protection, int flags, int file, off64_t offset,
                               const void* caller) noexcept;
[[nodiscard]] int unmap_memory(void* at, std::size_t bytes, const void* caller) noexcept;
[[nodiscard]] void* move_memory(void* at, std::size_t bytes, std::size_t wanted, int flags, void* to,
                                const void* caller) noexcept;
[[nodiscard]] int protect_memory(void* at, std::size_t bytes, int protection, const void* caller) noexcept;
[[nodiscard]] int advise_memory(void* at, std::size_t bytes, int advice, const void* caller) noexcept;

/// syscall(2) with one of these, or of those that lock memory. False: another call, or of other memory.
[[nodiscard]] bool make_mapping_call(long number, const long (&arguments)[6], const void* caller,
                                     long& result) noexcept;

}  // namespace quire::program
