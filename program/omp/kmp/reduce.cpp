// SPDX-License-Identifier: BSD-3-Clause
// Reductions: the threads of a node put their values together by the compiler's function, which costs no message. If
// nobody goes on before the result is there, node 0 does the same with those of the nodes, so that the original is
// touched when all threads have come: programs set it to zero in a `single nowait` before. Else one thread of each node
// adds to the original, under a lock.
#include <cstddef>
#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/meet.hpp"
#include "program/omp/team/team.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

using combine_function = void (*)(void* into, void* from);

struct gathering {
  combine_function combine;
  void* own;
  bool all_nodes;
};

/// Values of other nodes lie on stacks of threads that wait until this is done, and after.
void put_nodes_together(const gathering& g) {
  constexpr int most_at_a_time = 8;  // as quire_reduce_i64() has it
  for (int first = 0; first < job().nodes; first += most_at_a_time) {
    std::int64_t values[most_at_a_time] = {};
    const int own = job().node - first;
    if (own >= 0 && own < most_at_a_time) values[own] = reinterpret_cast<std::int64_t>(g.own);
    if (const quire_status why = quire_reduce_i64(values, most_at_a_time, QUIRE_SUM); why != QUIRE_OK)
      fail("a reduction cannot go on", why);
    for (int i = 0; job().node == 0 && i < most_at_a_time; ++i) {
      if (values[i] != 0 && i != own) g.combine(g.own, reinterpret_cast<void*>(values[i]));
    }
  }
}

/// The last thread's values get those of the others, which wait meanwhile.
void put_together(const brought* all, void* argument) {
  const gathering& g = *static_cast<const gathering*>(argument);
  for (const brought* b = all; b != nullptr; b = b->next) {
    if (b->what != g.own) g.combine(g.own, b->what);
  }
  if (g.all_nodes) put_nodes_together(g);
}

/// Whether the caller has what the node's threads have found, or with `all_nodes` what all have.
bool gather(void* own, combine_function combine, bool all_nodes) noexcept {
  if (me().count == 1) return true;
  gathering g{combine, own, all_nodes && me().spans};
  return meet_on_node(own, put_together, &g) && (!g.all_nodes || job().node == 0);
}

/// Where threads run tasks while they wait, they must not wait here: each adds its own.
bool each_for_itself() noexcept { return me().count > 1 && polls(); }

}  // namespace

/// 1: the caller adds its values to the original, and calls the second function. 0: they are taken already.
QUIRE_KMP id __kmpc_reduce_nowait(source*, id, id, std::size_t, void* own, combine_function combine,
                                  critical_name* name) {
  const bool each = each_for_itself();
  if (!each && !gather(own, combine, false)) return 0;
  if (each || me().spans) lock_by_name(name->words);
  return 1;
}
QUIRE_KMP void __kmpc_end_reduce_nowait(source*, id, critical_name* name) {
  if (each_for_itself() || me().spans) unlock_by_name(name->words);
}

QUIRE_KMP id __kmpc_reduce(source*, id, id, std::size_t, void* own, combine_function combine, critical_name* name) {
  if (each_for_itself()) {
    team_barrier();
    lock_by_name(name->words);
    return 1;
  }
  if (gather(own, combine, true)) return 1;
  team_barrier();
  return 0;
}
QUIRE_KMP void __kmpc_end_reduce(source*, id, critical_name* name) {
  if (each_for_itself()) unlock_by_name(name->words);
  team_barrier();
}
