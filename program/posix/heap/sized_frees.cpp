// SPDX-License-Identifier: BSD-3-Clause
// C23's free_sized and free_aligned_sized (glibc 2.43), which tell of a block what the heap knows anyway.
#include <cstddef>
#include <cstdlib>

#define QUIRE_EXPORT extern "C" __attribute__((visibility("default")))

QUIRE_EXPORT void free_sized(void* at, std::size_t) noexcept { std::free(at); }
QUIRE_EXPORT void free_aligned_sized(void* at, std::size_t, std::size_t) noexcept { std::free(at); }
