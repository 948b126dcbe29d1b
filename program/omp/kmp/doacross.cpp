// SPDX-License-Identifier: BSD-3-Clause
// Loops whose iterations wait for each other, in any number of dimensions. Threads may share an outer iteration
// (collapse), so that each iteration of all dimensions counts as one of a single dimension.
#include "program/omp/team/doacross.hpp"

#include <cstdint>

#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/team.hpp"
#include "program/process/fail.hpp"
#include "program/process/private_memory.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

/// kmp_dim; inclusive.
struct dimension {
  std::int64_t first, last, step;
  [[nodiscard]] std::uint64_t stride() const noexcept {
    return step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  }
  [[nodiscard]] std::uint64_t way(std::int64_t to) const noexcept {
    return step > 0 ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(first)
                    : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(to);
  }
  [[nodiscard]] bool has(std::int64_t at) const noexcept {
    return step > 0 ? at >= first && at <= last : at <= first && at >= last;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return has(last) ? way(last) / stride() + 1 : 0; }
};

/// The loop that the caller is in, and the one around it.
struct doacross_loop {
  dimension dimensions[most_doacross_levels];
  unsigned count = 0;
  doacross_loop* below = nullptr;
};
thread_local doacross_loop* t_now = nullptr;

/// False: there is no such iteration.
bool find(const std::int64_t* at, std::uint64_t& iteration) noexcept {
  iteration = 0;
  for (unsigned i = 0; i < t_now->count; ++i) {
    const dimension& d = t_now->dimensions[i];
    if (!d.has(at[i])) return false;
    iteration = iteration * d.count() + d.way(at[i]) / d.stride();
  }
  return true;
}

}  // namespace

QUIRE_KMP void __kmpc_doacross_init(source*, id, id count, const dimension* dimensions) {
  if (count < 1 || static_cast<unsigned>(count) > most_doacross_levels)
    fail("a loop has more levels that wait for each other than 31", QUIRE_LIMIT);
  auto* const l = make_private<doacross_loop>();
  l->count = static_cast<unsigned>(count);
  l->below = t_now;
  t_now = l;
  std::uint64_t iterations = 1;
  for (unsigned i = 0; i < l->count; ++i) {
    l->dimensions[i] = dimensions[i];
    if (__builtin_mul_overflow(iterations, dimensions[i].count(), &iterations))
      fail("a doacross loop has too many iterations", QUIRE_LIMIT);
  }
  if (me().count > 1) begin_doacross(1, &iterations);
}
QUIRE_KMP void __kmpc_doacross_fini(source*, id) {
  me().rows = nullptr;
  doacross_loop* const l = t_now;
  if (l == nullptr) return;
  t_now = l->below;
  destroy_private(l);
}

/// Iterations before this one are other threads' business, or were skipped.
QUIRE_KMP void __kmpc_doacross_post(source*, id, const std::int64_t* at) {
  std::uint64_t iteration = 0;
  if (me().rows == nullptr || !find(at, iteration)) return;
  me().row = iteration;
  post_iteration(&iteration);
}
QUIRE_KMP void __kmpc_doacross_wait(source*, id, const std::int64_t* at) {
  std::uint64_t iteration = 0;
  if (me().rows != nullptr && find(at, iteration)) wait_for_iteration(&iteration);
}
