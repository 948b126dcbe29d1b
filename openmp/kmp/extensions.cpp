// SPDX-License-Identifier: BSD-3-Clause
// Functions that LLVM's and Intel's runtimes have beside the standard's, those that programs call most: memory, and how
// long threads spin.
#include <algorithm>
#include <cstdlib>

#include "openmp/kmp/abi.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;

QUIRE_KMP void* kmp_malloc(std::size_t bytes) { return std::malloc(bytes); }
QUIRE_KMP void* kmp_calloc(std::size_t count, std::size_t bytes) { return std::calloc(count, bytes); }
QUIRE_KMP void* kmp_realloc(void* at, std::size_t bytes) { return std::realloc(at, bytes); }
QUIRE_KMP void* kmp_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  return std::aligned_alloc(alignment, bytes);
}
QUIRE_KMP void kmp_free(void* at) { std::free(at); }

// Threads wait as Quire's threads do.
QUIRE_KMP void kmp_set_blocktime(int ms) { own_variables().block_time_ms = std::max(ms, 0); }
QUIRE_KMP int kmp_get_blocktime() { return own_variables().block_time_ms; }
QUIRE_KMP void kmp_set_warnings_on() {}
QUIRE_KMP void kmp_set_warnings_off() {}
