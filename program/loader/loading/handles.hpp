// SPDX-License-Identifier: BSD-3-Clause
// Handles of dlopen(3): each node has its own of libc's, and the program gets one that is good on all nodes.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace quire::openmp {

/// In shared memory. A handle is the address of one; it begins as libc's do, for those who look there.
struct loaded_library {
  static constexpr std::size_t most = 2048;
  link_map about;
  std::uint32_t opened;  ///< times
  std::uint32_t kept;    ///< 1: once more than the program has, as threads have objects of it to destroy
  bool stays;            ///< on node 0 alone, until the program ends
};

/// Where libraries lie: behind threads' places (posix/memory/thread_data.cpp), before programs that `quire exec` has
/// mapped itself.
inline constexpr std::uint64_t first_library = 0x3c00'0000'0000, end_of_libraries = 0x3f00'0000'0000;

/// For threads of this node from now on.
void open_handles(loaded_library* all) noexcept;
/// Libc's handle, on this node, of a library.
void* own_handle(std::size_t number) noexcept;
void set_own_handle(std::size_t number, void* own) noexcept;
/// The number of the library that libc knows here as `own`, or that the program knows by a handle; `most`: none.
[[nodiscard]] std::size_t number_of_own(const void* own) noexcept;
[[nodiscard]] std::size_t number_of_handle(const void* handle) noexcept;

/// What dlerror(3) tells the calling thread next.
void set_load_error(const char* text) noexcept;

}  // namespace quire::openmp
