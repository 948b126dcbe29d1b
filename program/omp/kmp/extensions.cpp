// SPDX-License-Identifier: BSD-3-Clause
// Functions that LLVM's and Intel's runtimes have beside the standard's: memory, how long threads spin, stacks,
// settings of the environment. Names with a line below behind them are those of Fortran, where it takes no interface
// from the module.
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/environment.hpp"
#include "program/omp/team/team.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;

// ---- Memory. kmpc_*: older names.

#define QUIRE_MEMORY(prefix)                                                                                  \
  QUIRE_KMP void* prefix##_malloc(std::size_t bytes) { return std::malloc(bytes); }                           \
  QUIRE_KMP void* prefix##_calloc(std::size_t count, std::size_t bytes) { return std::calloc(count, bytes); } \
  QUIRE_KMP void* prefix##_realloc(void* at, std::size_t bytes) { return std::realloc(at, bytes); }           \
  QUIRE_KMP void* prefix##_aligned_malloc(std::size_t bytes, std::size_t alignment) {                         \
    return std::aligned_alloc(alignment, bytes);                                                              \
  }                                                                                                           \
  QUIRE_KMP void prefix##_free(void* at) { std::free(at); }
QUIRE_MEMORY(kmp)
QUIRE_MEMORY(kmpc)
QUIRE_KMP void* kmp_malloc_(const std::size_t* bytes) { return kmp_malloc(*bytes); }
QUIRE_KMP void* kmp_calloc_(const std::size_t* count, const std::size_t* bytes) { return kmp_calloc(*count, *bytes); }
QUIRE_KMP void* kmp_realloc_(void* const* at, const std::size_t* bytes) { return kmp_realloc(*at, *bytes); }
QUIRE_KMP void* kmp_aligned_malloc_(const std::size_t* bytes, const std::size_t* alignment) {
  return kmp_aligned_malloc(*bytes, *alignment);
}
QUIRE_KMP void kmp_free_(void* const* at) { kmp_free(*at); }

// ---- Threads wait as Quire's threads do.

QUIRE_KMP void kmp_set_blocktime(int ms) { own_variables().block_time_ms = std::max(ms, 0); }
QUIRE_KMP int kmp_get_blocktime() { return own_variables().block_time_ms; }
QUIRE_KMP void kmp_set_blocktime_(const int* ms) { kmp_set_blocktime(*ms); }
QUIRE_KMP int kmp_get_blocktime_() { return kmp_get_blocktime(); }
QUIRE_KMP void kmpc_set_blocktime(int ms) { kmp_set_blocktime(ms); }

#define QUIRE_NOTHING(name) \
  QUIRE_KMP void name() {}  \
  QUIRE_KMP void name##_() {}
QUIRE_NOTHING(kmp_set_warnings_on)
QUIRE_NOTHING(kmp_set_warnings_off)
// Records of loops are as many as are needed.
QUIRE_KMP void kmp_set_disp_num_buffers(int) {}
QUIRE_KMP void kmp_set_disp_num_buffers_(const int*) {}
QUIRE_KMP void kmpc_set_disp_num_buffers(int) {}

// ---- Stacks are made with the job.

QUIRE_KMP std::size_t kmp_get_stacksize_s() { return job().stack_bytes; }
QUIRE_KMP int kmp_get_stacksize() { return static_cast<int>(std::min<std::size_t>(job().stack_bytes, INT_MAX)); }
QUIRE_KMP void kmp_set_stacksize_s(std::size_t bytes) {
  if (bytes <= job().stack_bytes) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "kmp_set_stacksize(%zu): threads have stacks of %zu bytes already: set OMP_STACKSIZE=%zuK before the "
                "program starts",
                bytes, job().stack_bytes, (bytes + 1023) / 1024);
  fail(text, QUIRE_UNSUPPORTED);
}
QUIRE_KMP void kmp_set_stacksize(int bytes) { kmp_set_stacksize_s(static_cast<std::size_t>(std::max(bytes, 0))); }
QUIRE_KMP std::size_t kmp_get_stacksize_s_() { return kmp_get_stacksize_s(); }
QUIRE_KMP int kmp_get_stacksize_() { return kmp_get_stacksize(); }
QUIRE_KMP void kmp_set_stacksize_s_(const std::size_t* bytes) { kmp_set_stacksize_s(*bytes); }
QUIRE_KMP void kmp_set_stacksize_(const int* bytes) { kmp_set_stacksize(*bytes); }
QUIRE_KMP void kmpc_set_stacksize_s(std::size_t bytes) { kmp_set_stacksize_s(bytes); }
QUIRE_KMP void kmpc_set_stacksize(int bytes) { kmp_set_stacksize(bytes); }

// ---- What threads are for: one thread for all, or as many as usual.

namespace {
enum library : int { serial = 1, turnaround = 2, throughput = 3 };
}
QUIRE_KMP int kmp_get_library() { return own_variables().library; }
QUIRE_KMP void kmp_set_library(int what) {
  if (what < serial || what > throughput) return;
  own_variables().library = what;
  own_variables().threads = what == serial ? 1 : job().first.threads;
}
QUIRE_KMP void kmp_set_library_serial() { kmp_set_library(serial); }
QUIRE_KMP void kmp_set_library_turnaround() { kmp_set_library(turnaround); }
QUIRE_KMP void kmp_set_library_throughput() { kmp_set_library(throughput); }
QUIRE_KMP int kmp_get_library_() { return kmp_get_library(); }
QUIRE_KMP void kmp_set_library_(const int* what) { kmp_set_library(*what); }
QUIRE_KMP void kmp_set_library_serial_() { kmp_set_library(serial); }
QUIRE_KMP void kmp_set_library_turnaround_() { kmp_set_library(turnaround); }
QUIRE_KMP void kmp_set_library_throughput_() { kmp_set_library(throughput); }
QUIRE_KMP void kmpc_set_library(int what) { kmp_set_library(what); }

// ---- Variables of the environment, later: "OMP_NUM_THREADS=4|OMP_DYNAMIC=true".

QUIRE_KMP void kmp_set_defaults(const char* text) { read_defaults(text, own_variables()); }
QUIRE_KMP void kmpc_set_defaults(const char* text) { kmp_set_defaults(text); }
QUIRE_KMP void kmp_set_defaults_(const char* text, std::size_t length) {
  kmp_set_defaults(std::string(text, length).c_str());
}
