// SPDX-License-Identifier: BSD-3-Clause
// Taskgroups, and reductions of tasks in them: each thread of the team has a copy of each variable, in shared memory.
// At the end of the taskgroup, when all tasks are done, they are put together.
#include <quire/quire.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/common_memory.hpp"
#include "program/omp/team/tasking.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

/// What the compiler says of a variable (kmp_taskred_input_t).
struct variable {
  void *shared, *original;
  std::size_t bytes;
  void (*begin)(void* copy, void* original);  ///< null: zeros
  void (*end)(void* copy);                    ///< null: nothing
  void (*combine)(void* into, void* from);
  std::uint32_t flags;
};

/// All copies of a variable, side by side.
struct copies {
  variable of;
  std::size_t stride;
  std::byte* first;
};
/// A taskgroup's, and those of the taskgroups around it: tasks that are run on other nodes have these by address.
struct reductions {
  const reductions* around;
  std::size_t threads, count;
  bool of_team;  ///< threads have a taskgroup each, and the copies together
  copies* variables;
};

template <class Type>
Type* allocate(std::size_t count, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  void* at = nullptr;
  if (const quire_status why = quire_aligned_alloc(alignment, count * sizeof(Type), &at); why != QUIRE_OK)
    fail("no shared memory for a reduction", why);
  return static_cast<Type*>(at);
}

std::byte* make_copies(const variable& v, std::size_t threads, std::size_t stride) {
  constexpr std::size_t line = 64;
  auto* const first = allocate<std::byte>(threads * stride, line);
  for (std::size_t i = 0; i < threads; ++i) {
    if (v.begin != nullptr) {
      v.begin(first + i * stride, v.original);
    } else {
      std::memset(first + i * stride, 0, v.bytes);
    }
  }
  return first;
}

const reductions* around_caller() noexcept {
  for (const group* g = group_of_caller(); g != nullptr; g = g->outer) {
    if (g->reductions != nullptr) return static_cast<const reductions*>(g->reductions);
  }
  return nullptr;
}

/// `others`: copies that another thread has made, one address for each variable; null: the caller makes them.
reductions* describe(const variable* list, std::size_t count, bool of_team, std::byte* const* others) {
  constexpr std::size_t line = 64;
  auto* const r = allocate<reductions>(1);
  *r = {around_caller(), static_cast<std::size_t>(me().count), count, of_team, allocate<copies>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t stride = (list[i].bytes + line - 1) / line * line;
    r->variables[i] = {list[i], stride, others != nullptr ? others[i] : make_copies(list[i], r->threads, stride)};
  }
  return r;
}

void forget(reductions* r) noexcept {
  (void)quire_free(r->variables);
  (void)quire_free(r);
}

void combine(const reductions& r) {
  for (const copies* c = r.variables; c != r.variables + r.count; ++c) {
    for (std::size_t i = 0; i < r.threads; ++i) {
      std::byte* const copy = c->first + i * c->stride;
      c->of.combine(c->of.shared, copy);
      if (c->of.end != nullptr) c->of.end(copy);
    }
    (void)quire_free(c->first);
  }
}

/// The caller's copy of a variable, which is named by its own address or by that of a copy; null: it is none of these.
void* copy_in(const reductions& r, const void* address) noexcept {
  for (const copies* c = r.variables; c != r.variables + r.count; ++c) {
    const auto* const at = static_cast<const std::byte*>(address);
    const bool is_copy = at >= c->first && at < c->first + r.threads * c->stride;
    if (is_copy || address == c->of.shared) return c->first + static_cast<std::size_t>(me().number) * c->stride;
  }
  return nullptr;
}

}  // namespace

QUIRE_KMP void __kmpc_taskgroup(source*, id) { begin_group(); }
QUIRE_KMP void __kmpc_end_taskgroup(source*, id) {
  group* const g = group_of_caller();
  auto* const r = g != nullptr ? static_cast<reductions*>(g->reductions) : nullptr;
  end_group();
  if (r == nullptr) return;
  if (r->of_team) team_barrier();
  if (!r->of_team || me().number == 0) combine(*r);
  forget(r);
}

/// The caller has begun a taskgroup. One thread works on the original.
QUIRE_KMP void* __kmpc_taskred_init(id, id count, const variable* list) {
  group* const g = group_of_caller();
  if (me().count > 1) g->reductions = describe(list, static_cast<std::size_t>(count), false, nullptr);
  return g;
}

/// Reductions of a whole region or loop: who comes first makes the copies.
QUIRE_KMP void* __kmpc_taskred_modifier_init(source*, id, id, id count, const variable* list) {
  begin_group();
  group* const g = group_of_caller();
  if (me().count == 1) return g;
  bool first = false;
  const auto variables = static_cast<std::size_t>(count);
  auto* const table = static_cast<std::byte**>(begin_common_memory(variables * sizeof(std::byte*), first));
  auto* const r = describe(list, variables, true, first ? nullptr : table);
  if (first) {
    for (std::size_t i = 0; i < variables; ++i) table[i] = r->variables[i].first;
    common_memory_ready(table);
  }
  g->reductions = r;
  return g;
}
namespace {

/// What older compilers say of a variable (kmp_task_red_input_t). Its function for a new copy has one argument, and
/// does not look at a second one.
struct older_variable {
  void* shared;
  std::size_t bytes;
  void (*begin)(void* copy, void* nothing);
  void (*end)(void* copy);
  void (*combine)(void* into, void* from);
  std::uint32_t flags;
};

std::vector<variable, private_allocator<variable>> as_now(id count, const older_variable* list) {
  std::vector<variable, private_allocator<variable>> all;
  for (const older_variable* v = list; v != list + count; ++v)
    all.push_back({v->shared, v->shared, v->bytes, v->begin, v->end, v->combine, v->flags});
  return all;
}

}  // namespace

QUIRE_KMP void* __kmpc_task_reduction_init(id thread, id count, const older_variable* list) {
  return __kmpc_taskred_init(thread, count, as_now(count, list).data());
}
QUIRE_KMP void* __kmpc_task_reduction_modifier_init(source* where, id thread, id of_loop, id count,
                                                    const older_variable* list) {
  return __kmpc_taskred_modifier_init(where, thread, of_loop, count, as_now(count, list).data());
}

/// The first thread's variables get what the tasks have found; the reduction of the region goes on with these.
QUIRE_KMP void __kmpc_task_reduction_modifier_fini(source* where, id thread, id) {
  __kmpc_end_taskgroup(where, thread);
}

QUIRE_KMP void* __kmpc_task_reduction_get_th_data(id, void*, void* address) {
  if (me().count == 1) return address;
  for (const reductions* r = around_caller(); r != nullptr; r = r->around) {
    if (void* const copy = copy_in(*r, address); copy != nullptr) return copy;
  }
  fail("a task takes part in a reduction that no taskgroup around it has", QUIRE_NOT_FOUND);
}
