// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/fortran/units.hpp"

#include <unistd.h>

#include "program/job/job.hpp"
#include "program/job/shared_state.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/memory/unit_use.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

bool is_output(std::int32_t unit) noexcept { return unit == 0 || unit == 6; }
bool is_stream(std::int32_t unit) noexcept { return is_output(unit) || unit == 5; }

/// Null: it is node 0's, who ever opens it.
std::uint32_t* owner_of(std::int32_t unit) noexcept {
  const bool is_known = unit >= 0 && unit < fortran_units::most;
  return is_known ? &shared().units.owner[static_cast<std::size_t>(unit)] : nullptr;
}
std::uint32_t own_number() noexcept { return static_cast<std::uint32_t>(job().node) + 1; }

/// As this node's libgfortran has it; -1: it is not open.
int descriptor_of(std::int32_t unit) noexcept {
  using descriptor_function = int(const std::int32_t*);
  auto* const descriptor = QUIRE_NEXT_AS(descriptor_function, "_gfortran_fnum_i4");
  return descriptor != nullptr ? descriptor(&unit) : -1;
}

}  // namespace

int node_of_unit(std::int32_t unit, bool opens, const void* caller) noexcept {
  if (!files::apart || !is_of_program(caller) || !files::is_node()) return here;
  const std::uint32_t* const at = owner_of(unit);
  const std::uint32_t owner = at != nullptr ? __atomic_load_n(at, __ATOMIC_ACQUIRE) : 1;
  int node = 0;  // which makes a file for a unit that nobody has opened, and reads standard input
  if (owner != 0) {
    node = static_cast<int>(owner) - 1;
  } else if (is_output(unit) || opens) {
    node = job().node;
  }
  return node == job().node ? here : node;
}

void note_owner(std::int32_t unit) noexcept {
  std::uint32_t* const owner = owner_of(unit);
  if (owner == nullptr) return;
  const int found = descriptor_of(unit);
  const int of_stream = unit == 0 ? STDERR_FILENO : unit == 5 ? STDIN_FILENO : STDOUT_FILENO;
  const std::uint32_t before = __atomic_load_n(owner, __ATOMIC_ACQUIRE);
  std::uint32_t now = own_number();
  if (is_stream(unit)) {
    if (found == of_stream) now = 0;
  } else if (found < 0) {
    now = before == own_number() ? 0 : before;
  }
  if (now != before) __atomic_store_n(owner, now, __ATOMIC_RELEASE);
}

/// In a statement the thread may hold the unit's lock.
void flush_units() noexcept {
  using flush_function = void(std::int32_t*);
  flush_function* const flush = has_units_library() ? QUIRE_NEXT_AS(flush_function, "_gfortran_flush_i4") : nullptr;
  if (flush != nullptr && !is_in_unit_statement()) flush(nullptr);
}

}  // namespace quire::program
