// SPDX-License-Identifier: BSD-3-Clause
// A block is an array of words: 0 how many variables; 1 the bytes that a thread needs for them; 2 their alignment, then
// the memory; 3 the allocator; 4 the next block, in the end that of the taskgroup around; 6 the end of the memory. From
// 7 on three words for each variable: its address, where its copy lies within a thread's memory, and one for the
// runtime. Copies begin as zeros, and the compiler's code makes of them what they have to be.
#include "program/omp/gomp/reductions.hpp"

#include <quire/quire.h>

#include <cstring>

#include "program/omp/gomp/export.hpp"
#include "program/omp/team/common_memory.hpp"
#include "program/omp/team/members.hpp"
#include "program/omp/team/tasking.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

enum word : unsigned {
  variables_in = 0,
  thread_bytes = 1,
  memory = 2,
  next = 4,
  owner = 5,
  memory_end = 6,
  first_variable = 7
};
constexpr unsigned words_each = 3;

void* zeros(std::size_t alignment, std::size_t bytes) noexcept {
  void* at = nullptr;
  const std::size_t least = alignment < 64 ? 64 : alignment;
  if (const quire_status why = quire_aligned_alloc(least, bytes != 0 ? bytes : 1, &at); why != QUIRE_OK)
    fail("no shared memory for a reduction", why);
  std::memset(at, 0, bytes);
  return at;
}

/// Blocks in a list end where that of the taskgroup around begins.
void link_to(std::uintptr_t* block, void* around) noexcept {
  std::uintptr_t* b = block;
  while (b[next] != 0) b = reinterpret_cast<std::uintptr_t*>(b[next]);
  b[next] = reinterpret_cast<std::uintptr_t>(around);
  block[owner] = 1;  // a list begins here
}

void register_with(std::uintptr_t* block, int threads, const std::uintptr_t* first, void* around) noexcept {
  for (std::uintptr_t* b = block; b != nullptr; b = reinterpret_cast<std::uintptr_t*>(b[next])) {
    b[owner] = 0;
    if (first != nullptr) {
      b[memory] = first[memory];
      b[memory_end] = first[memory_end];
      first = reinterpret_cast<const std::uintptr_t*>(first[next]);
      continue;
    }
    const std::size_t bytes = b[thread_bytes] * static_cast<std::size_t>(threads);
    b[memory] = reinterpret_cast<std::uintptr_t>(zeros(b[memory], bytes));
    b[memory_end] = b[memory] + bytes;
  }
  link_to(block, around);
}

std::uintptr_t* blocks_of_caller() noexcept {
  for (group* g = group_of_caller(); g != nullptr; g = g->outer) {
    if (g->reductions != nullptr) return static_cast<std::uintptr_t*>(g->reductions);
  }
  return static_cast<std::uintptr_t*>(own_team().reductions);
}

struct found {
  const std::uintptr_t* block = nullptr;
  std::uintptr_t offset = 0;
  std::uintptr_t original = 0;
};

/// By the variable's own address, or that of a copy.
found find(const std::uintptr_t* blocks, std::uintptr_t address) noexcept {
  for (const std::uintptr_t* b = blocks; b != nullptr; b = reinterpret_cast<const std::uintptr_t*>(b[next])) {
    const bool copy = address >= b[memory] && address < b[memory_end];
    const std::uintptr_t offset = copy ? (address - b[memory]) % b[thread_bytes] : 0;
    for (std::uintptr_t i = 0; i < b[variables_in]; ++i) {
      const std::uintptr_t* const v = b + first_variable + words_each * i;
      if (copy ? v[1] == offset : v[0] == address) return {b, v[1], v[0]};
    }
    if (copy) return {b, offset, 0};
  }
  return {};
}

void free_list(std::uintptr_t* block) noexcept {
  std::uintptr_t* b = block;
  do {
    (void)quire_free(reinterpret_cast<void*>(b[memory]));
    b = reinterpret_cast<std::uintptr_t*>(b[next]);
  } while (b != nullptr && b[owner] == 0);
}

}  // namespace

void register_reductions(std::uintptr_t* block) noexcept {
  group* const g = group_of_caller();
  if (g == nullptr) fail("a reduction of tasks is in no taskgroup", QUIRE_INVALID);
  register_with(block, me().count, nullptr, blocks_of_caller());
  g->reductions = block;
}

void register_reductions_as(std::uintptr_t* block, const std::uintptr_t* first) noexcept {
  register_with(block, me().count, first, blocks_of_caller());
  group_of_caller()->reductions = block;
}

void allocate_reductions(std::uintptr_t* block, int threads) noexcept {
  register_with(block, threads, nullptr, nullptr);
}

/// The first thread's block lies on its stack, and stays until all have left the construct.
void begin_shared_reductions(std::uintptr_t* block) noexcept {
  begin_group();
  bool first = false;
  auto* const slot = static_cast<std::uintptr_t**>(begin_common_memory(sizeof(std::uintptr_t*), first));
  if (first) {
    register_reductions(block);
    *slot = block;
    common_memory_ready(slot);
  } else {
    register_reductions_as(block, *slot);
  }
}

}  // namespace quire::program

using namespace quire::program;

QUIRE_GOMP void GOMP_taskgroup_reduction_register(std::uintptr_t* block) {
  if (group_of_caller() == nullptr) begin_group();
  register_reductions(block);
}
QUIRE_GOMP void GOMP_taskgroup_reduction_unregister(std::uintptr_t* block) { free_list(block); }

/// The first `originals` of the variables are to have their own addresses, too, behind the addresses of the copies.
QUIRE_GOMP void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses) {
  const std::uintptr_t* const blocks = blocks_of_caller();
  for (std::size_t i = 0; i < count; ++i) {
    const found f = find(blocks, reinterpret_cast<std::uintptr_t>(addresses[i]));
    if (f.block == nullptr || (i < originals && f.original == 0))
      fail("a task takes part in a reduction that no taskgroup around it has", QUIRE_NOT_FOUND);
    addresses[i] = reinterpret_cast<void*>(f.block[memory] +
                                           static_cast<std::uintptr_t>(me().number) * f.block[thread_bytes] + f.offset);
    if (i < originals) addresses[count + i] = reinterpret_cast<void*>(f.original);
  }
}

QUIRE_GOMP void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  group* const g = group_of_caller();
  auto* const block = g != nullptr ? static_cast<std::uintptr_t*>(g->reductions) : nullptr;
  end_group();
  if (!cancelled) team_barrier();
  if (block != nullptr && me().number == 0) free_list(block);
}
