// SPDX-License-Identifier: BSD-3-Clause
// Calls that clang makes for tasks.
#include "program/omp/kmp/tasks.hpp"

#include <cstring>
#include <vector>

#include "program/omp/team/members.hpp"

namespace quire::program::kmp {
namespace {

void run_parts(compiled_task* t) {
  task_head& h = head_of(t);
  do {
    h.again = false;
    t->run(me().number, t);
  } while (h.again);
}

void destroy_variables(compiled_task* t) {
  if ((head_of(t).flags & has_destructors) != 0) t->first.destroy(me().number, t);
}

void run_whole(void* head) {
  auto* const t = reinterpret_cast<compiled_task*>(static_cast<task_head*>(head) + 1);
  run_parts(t);
  destroy_variables(t);
}

}  // namespace

compiled_task* allocate_task(std::uint64_t bytes, std::uint64_t shares, id flags) noexcept {
  constexpr std::size_t alignment = 16;
  user_task* const record = make_task(run_whole, sizeof(task_head) + bytes, alignment);
  auto* const head = static_cast<task_head*>(record->arguments);
  *head = {record, bytes, shares, flags, false, nullptr, false};
  if ((flags & proxy_flag) != 0) head->completion = event_of(*record);
  return reinterpret_cast<compiled_task*>(head + 1);
}

void discard_task(compiled_task* t) {
  destroy_variables(t);
  dispose_task(*head_of(t).record);
}

void submit_task(compiled_task* t, task_options options) {
  task_head& h = head_of(t);
  options.final = (h.flags & final_flag) != 0;
  h.runs = true;
  start_task(h.record, options);
}

}  // namespace quire::program::kmp

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

/// kmp_depend_info
struct compiled_dependence {
  const void* address;
  std::size_t bytes;
  std::uint8_t kind;
};
using dependence_list = std::vector<dependence, private_allocator<dependence>>;

void add(dependence_list& all, const compiled_dependence* list, id count) {
  constexpr std::uint8_t in = 1, set = 8, all_memory = 0x80;
  for (id i = 0; i < count; ++i) {
    const compiled_dependence& d = list[i];
    const void* const address = (d.kind & all_memory) != 0 ? nullptr : d.address;
    all.push_back({address, d.kind == in    ? dependence::kind::in
                            : d.kind == set ? dependence::kind::set
                                            : dependence::kind::out});
  }
}

dependence_list both(const compiled_dependence* list, id count, const compiled_dependence* others, id other_count) {
  dependence_list all;
  add(all, list, count);
  add(all, others, other_count);
  return all;
}

}  // namespace

QUIRE_KMP compiled_task* __kmpc_omp_task_alloc(source*, id, id flags, std::size_t bytes, std::size_t shared_bytes,
                                               routine what) {
  constexpr std::size_t alignment = 16;
  const std::size_t shares = (bytes + alignment - 1) / alignment * alignment;
  compiled_task* const made = allocate_task(shares + shared_bytes, shares, flags);
  std::memset(static_cast<void*>(made), 0, sizeof(compiled_task));
  made->shareds = shared_bytes != 0 ? reinterpret_cast<std::byte*>(made) + shares : nullptr;
  made->run = what;
  return made;
}
/// Of `target nowait`, which the host runs.
QUIRE_KMP compiled_task* __kmpc_omp_target_task_alloc(source* where, id thread, id flags, std::size_t bytes,
                                                      std::size_t shared_bytes, routine what, std::int64_t) {
  return __kmpc_omp_task_alloc(where, thread, flags, bytes, shared_bytes, what);
}
QUIRE_KMP void* __kmpc_task_allow_completion_event(source*, id, compiled_task* t) {
  return event_of(*head_of(t).record);
}

QUIRE_KMP id __kmpc_omp_task(source*, id, compiled_task* t) {
  task_head& h = head_of(t);
  if (h.runs) {
    h.again = true;
  } else {
    submit_task(t, {});
  }
  return 0;
}
QUIRE_KMP id __kmpc_omp_task_parts(source* where, id thread, compiled_task* t) {
  return __kmpc_omp_task(where, thread, t);
}
QUIRE_KMP id __kmpc_omp_task_with_deps(source*, id, compiled_task* t, id count, const compiled_dependence* list,
                                       id other_count, const compiled_dependence* others) {
  const dependence_list on = both(list, count, others, other_count);
  submit_task(t, {.on = on});
  return 0;
}

/// A proxy task stands for work that is done elsewhere, which any thread may say to be over.
QUIRE_KMP void __kmpc_proxy_task_completed_ooo(compiled_task* t) { fulfil_event(head_of(t).completion); }
QUIRE_KMP void __kmpc_proxy_task_completed(id, compiled_task* t) { __kmpc_proxy_task_completed_ooo(t); }

/// The caller runs the task itself, between these two.
QUIRE_KMP void __kmpc_omp_task_begin_if0(source*, id, compiled_task* t) {
  task_head& h = head_of(t);
  h.runs = true;
  begin_task_here(h.record, {.deferred = false, .final = (h.flags & final_flag) != 0});
}
QUIRE_KMP void __kmpc_omp_task_complete_if0(source*, id, compiled_task* t) {
  task_head& h = head_of(t);
  if (h.again) run_parts(t);
  destroy_variables(t);
  end_task_here(h.record);
}
QUIRE_KMP void __kmpc_omp_wait_deps(source*, id, id count, const compiled_dependence* list, id other_count,
                                    const compiled_dependence* others) {
  wait_for_dependences(both(list, count, others, other_count));
}
QUIRE_KMP void __kmpc_omp_taskwait_deps_51(source*, id, id count, const compiled_dependence* list, id other_count,
                                           const compiled_dependence* others, id no_wait) {
  const dependence_list on = both(list, count, others, other_count);
  if (no_wait != 0) return start_empty_task(on);
  wait_for_dependences(on);
}
QUIRE_KMP id __kmpc_omp_taskwait(source*, id) {
  wait_for_children();
  return 0;
}
QUIRE_KMP id __kmpc_omp_taskyield(source*, id, id) {
  yield_to_tasks();
  return 0;
}
QUIRE_KMP id __kmpc_omp_reg_task_with_affinity(source*, id, compiled_task*, id, void*) { return 0; }
