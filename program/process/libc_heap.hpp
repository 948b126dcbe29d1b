// SPDX-License-Identifier: BSD-3-Clause
// libc's own heap, whatever stands in front of it: other allocators define all names of malloc(3), also __libc_malloc.
#pragma once

#include <cstddef>

namespace quire::program {

[[nodiscard]] void* libc_malloc(std::size_t bytes) noexcept;
[[nodiscard]] void* libc_calloc(std::size_t count, std::size_t bytes) noexcept;
[[nodiscard]] void* libc_realloc(void* at, std::size_t bytes) noexcept;
[[nodiscard]] void* libc_memalign(std::size_t alignment, std::size_t bytes) noexcept;
void libc_free(void* at) noexcept;
[[nodiscard]] std::size_t libc_usable_size(void* at) noexcept;
/// In libc's code.
[[nodiscard]] const void* libc_code() noexcept;

}  // namespace quire::program
