// SPDX-License-Identifier: BSD-3-Clause
// Reductions: the threads of a node put their values together by the compiler's function, which costs no message; then one of each node adds them to
// the original, under a lock.
#include <array>
#include <cstddef>

#include "openmp/kmp/abi.hpp"
#include "openmp/team/plan.hpp"
#include "openmp/team/shared_state.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;
using namespace quire::openmp::kmp;

namespace {

using combine_function = void (*)(void* into, void* from);

constexpr std::size_t most_threads = 4096;  ///< of a node
std::array<void*, most_threads> g_values;   ///< of its threads; private

struct gathering {
  combine_function combine;
  std::size_t count, own;
};

/// The last thread's values get those of the others, which wait meanwhile, in the order of their numbers.
void put_together(void* argument) {
  const gathering& g = *static_cast<const gathering*>(argument);
  for (std::size_t i = 0; i < g.count; ++i) {
    if (i != g.own) g.combine(g_values[g.own], g_values[i]);
  }
}

/// Whether the caller has what the node's threads have found, and the lock.
bool gather(void* own, combine_function combine, critical_name* name) noexcept {
  if (me().count == 1) return true;
  const int first = share_of(job().node, me().count, job().nodes).first;
  gathering g{combine, static_cast<std::size_t>(me().here), static_cast<std::size_t>(me().number - first)};
  g_values[g.own] = own;
  if (!meet_on_node(put_together, &g)) return false;
  lock_by_name(name->words);
  return true;
}

void end(critical_name* name) noexcept {
  if (me().count > 1) unlock_by_name(name->words);
}

}  // namespace

/// 1: the caller adds its values to the original, and calls the second function. 0: they are taken already.
QUIRE_KMP id __kmpc_reduce_nowait(place*, id, id, std::size_t, void* own, combine_function combine, critical_name* name) {
  return gather(own, combine, name) ? 1 : 0;
}
QUIRE_KMP void __kmpc_end_reduce_nowait(place*, id, critical_name* name) { end(name); }

/// Nobody goes on before the result is there.
QUIRE_KMP id __kmpc_reduce(place*, id, id, std::size_t, void* own, combine_function combine, critical_name* name) {
  if (gather(own, combine, name)) return 1;
  team_barrier();
  return 0;
}
QUIRE_KMP void __kmpc_end_reduce(place*, id, critical_name* name) {
  end(name);
  team_barrier();
}
