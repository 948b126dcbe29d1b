// SPDX-License-Identifier: BSD-3-Clause
// Tasks as clang describes them: a record of the compiler's in memory of the runtime's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/tasking.hpp"

namespace quire::program::kmp {

struct compiled_task;
using routine = id (*)(id thread, compiled_task* of);

/// What the compiler knows of a task (kmp_task_t). Its private variables are behind that, and then what it shares.
struct compiled_task {
  void* shareds;
  routine run;
  id part;  ///< at which an untied task goes on
  union {
    routine destroy;
    id priority;
  } first;
  void* second;
};

/// What the runtime knows of it, before it in memory. Shared memory; `record` is of the node that has made it.
struct alignas(16) task_head {
  user_task* record;
  std::uint64_t bytes;   ///< of the compiler's part and what is behind it
  std::uint64_t shares;  ///< where in them that begins which it shares
  id flags;
  bool runs;         ///< it has begun
  void* completion;  ///< of a proxy task, which is done when someone says so: its event
  bool again;        ///< an untied task hands itself in again where it may pause, and goes on at its next part
};
enum task_flag : id { final_flag = 2, has_destructors = 8, proxy_flag = 16 };

inline task_head& head_of(compiled_task* t) noexcept { return *(reinterpret_cast<task_head*>(t) - 1); }

[[nodiscard]] compiled_task* allocate_task(std::uint64_t bytes, std::uint64_t shares, id flags) noexcept;
/// A task that never began goes.
void discard_task(compiled_task* t);
void submit_task(compiled_task* t, task_options options);

}  // namespace quire::program::kmp
