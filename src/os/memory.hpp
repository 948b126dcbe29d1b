// SPDX-License-Identifier: BSD-3-Clause
// One checked wrapper per system call on memory. 0 or an errno comes back; nothing is logged here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"

namespace quire::os {

inline constexpr std::size_t page_bytes = 4096;

/// An anonymous shared memory object of `bytes`, sparse. Gives a descriptor, or -errno.
[[nodiscard]] int make_memfd(const char* name, std::uint64_t bytes) noexcept;
void close_descriptor(int fd) noexcept;

/// Maps `bytes` of `fd` shared, from offset 0; -1: anonymous memory. With `at`, exactly there, replacing what the
/// caller has reserved. Gives the address; nullptr with errno in `error`.
[[nodiscard]] void* map_shared(int fd, std::uint64_t bytes, void* at, bool accessible, int& error) noexcept;
/// `bytes` of `fd` from `offset` on, shared: as above.
[[nodiscard]] void* map_shared_part(int fd, std::uint64_t offset, std::uint64_t bytes, void* at, bool accessible,
                                    int& error) noexcept;
/// The same, private: the first write to a page makes a copy of it, which only this mapping has. Costs nothing until
/// written.
[[nodiscard]] void* map_private(int fd, std::uint64_t bytes, void* at, bool accessible, int& error) noexcept;
/// Private zero memory that costs nothing until touched (tables), and stays out of core files. nullptr with errno in
/// `error`.
[[nodiscard]] void* map_table(std::uint64_t bytes, int& error) noexcept;
/// Private memory of zeroes that can be read and written, in place of what is reserved there. 0 or errno.
[[nodiscard]] int map_private(void* at, std::uint64_t bytes) noexcept;
/// Address space without memory; with `at`, there and only if nothing is there yet. nullptr with errno in `error`
/// (EEXIST).
[[nodiscard]] void* reserve(std::uint64_t bytes, void* at, int& error) noexcept;
/// The same in place of whatever is mapped there, in one step: nobody else can get the addresses meanwhile. 0 or errno.
[[nodiscard]] int reserve_again(void* address, std::uint64_t bytes) noexcept;
void unmap(void* address, std::uint64_t bytes) noexcept;

/// Bytes of this host that new memory could have without swapping (MemAvailable); 0 if the system does not say.
[[nodiscard]] std::uint64_t available_bytes() noexcept;

/// Copies pages of this process that may be absent: those that cannot be read are left as they are. False if the system
/// does not let it. Fault context.
[[nodiscard]] bool copy_present_pages(void* to, const void* from, std::size_t bytes) noexcept;

[[nodiscard]] int protect(void* address, std::size_t bytes, int prot) noexcept;
/// Makes the frames of a shared mapping that are missing; content stays. 0; EFAULT where there is no memory for one;
/// other errno. Fault context.
[[nodiscard]] int populate(void* address, std::size_t bytes) noexcept;
/// madvise(); MADV_DONTNEED, MADV_REMOVE, MADV_DONTFORK, MADV_HUGEPAGE, MADV_DONTDUMP.
[[nodiscard]] int advise(void* address, std::uint64_t bytes, int advice) noexcept;
/// The range goes into core files from now on. Not one of the calls that tests make fail: nothing depends on it.
int advise_dump(void* address, std::uint64_t bytes) noexcept;

}  // namespace quire::os
