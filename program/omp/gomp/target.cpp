// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for target constructs and leagues of teams. There is no device: the host runs them, on the data
// where they are.
#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "program/omp/gomp/dependences.hpp"
#include "program/omp/gomp/export.hpp"
#include "program/omp/team/league.hpp"
#include "program/omp/team/tasking.hpp"
#include "program/omp/team/team.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;

namespace {

void need_no_device() noexcept {
  if (job().needs_device) fail("OMP_TARGET_OFFLOAD is mandatory, and there is no device", QUIRE_UNSUPPORTED);
}

/// How the compiler says what becomes of a variable: the kind, and above it the logarithm of the alignment.
constexpr unsigned kind_mask = 0xff, alignment_shift = 8, firstprivate = 12;

std::size_t private_bytes(std::size_t count, const std::size_t* sizes, const unsigned short* kinds) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if ((kinds[i] & kind_mask) == firstprivate) bytes += sizes[i] + (std::size_t{1} << (kinds[i] >> alignment_shift));
  }
  return bytes;
}

/// Variables that the construct has for itself get copies.
void make_private_copies(std::byte* room, std::size_t count, void** addresses, const std::size_t* sizes,
                         const unsigned short* kinds) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if ((kinds[i] & kind_mask) != firstprivate) continue;
    const std::uintptr_t alignment = std::uintptr_t{1} << (kinds[i] >> alignment_shift);
    room += (alignment - reinterpret_cast<std::uintptr_t>(room) % alignment) % alignment;
    std::memcpy(room, addresses[i], sizes[i]);
    addresses[i] = room;
    room += sizes[i];
  }
}

void wait_for(void** depend) {
  if (depend != nullptr) wait_for_dependences(dependences_of(depend));
}

/// A list of words that ends with 0: each says for which devices and what it is, and above that the value, if this is
/// not the next word. For the host there is a limit of threads; 0: there is none.
unsigned thread_limit_of(void* const* list) noexcept {
  constexpr std::uintptr_t devices = 0x7f, value_follows = 0x80, what = 0xff00, thread_limit = 0x200;
  constexpr int value_shift = 16;
  for (; list != nullptr && *list != nullptr; ++list) {
    const auto word = reinterpret_cast<std::uintptr_t>(*list);
    const std::uintptr_t value =
        (word & value_follows) != 0 ? reinterpret_cast<std::uintptr_t>(*++list) : word >> value_shift;
    if ((word & devices) == 0 && (word & what) == thread_limit)
      return static_cast<unsigned>(std::min<std::uintptr_t>(value, INT_MAX));
  }
  return 0;
}

}  // namespace

QUIRE_GOMP void GOMP_target_ext(int, region_function what, std::size_t count, void** addresses, std::size_t* sizes,
                                unsigned short* kinds, unsigned, void** depend, void** more) {
  need_no_device();
  wait_for(depend);
  const std::size_t bytes = private_bytes(count, sizes, kinds);
  if (bytes != 0) make_private_copies(static_cast<std::byte*>(__builtin_alloca(bytes)), count, addresses, sizes, kinds);
  struct construct {
    region_function what;
    void** addresses;
    unsigned limit;
  } now{what, addresses, thread_limit_of(more)};
  run_initial(
      [](void* at) {
        const construct& c = *static_cast<construct*>(at);
        set_thread_limit(c.limit);
        c.what(c.addresses);
      },
      &now);
}
QUIRE_GOMP void GOMP_target(int, region_function what, const void*, std::size_t, void** addresses, std::size_t*,
                            unsigned char*) {
  need_no_device();
  run_initial(what, addresses);
}
QUIRE_GOMP void GOMP_target_data_ext(int, std::size_t, void**, std::size_t*, unsigned short*) { need_no_device(); }
QUIRE_GOMP void GOMP_target_data(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
  need_no_device();
}
QUIRE_GOMP void GOMP_target_end_data() {}
QUIRE_GOMP void GOMP_target_update_ext(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                       void** depend) {
  need_no_device();
  wait_for(depend);
}
QUIRE_GOMP void GOMP_target_update(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
  need_no_device();
}
QUIRE_GOMP void GOMP_target_enter_exit_data(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                            void** depend) {
  need_no_device();
  wait_for(depend);
}
// Code for devices that the program brings has no device to go to.
QUIRE_GOMP void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
QUIRE_GOMP void GOMP_offload_register(const void*, int, const void*) {}
QUIRE_GOMP void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}
QUIRE_GOMP void GOMP_offload_unregister(const void*, int, const void*) {}

/// The host's functions are where they are.
QUIRE_GOMP void* GOMP_target_map_indirect_ptr(void* function) { return function; }

// ---- Leagues: their teams run one after the other.

QUIRE_GOMP void GOMP_teams_reg(region_function what, void* data, unsigned teams, unsigned limit, unsigned) {
  run_league(what, data, teams, limit);
}
/// Within target: the code is called for each team, until there is none left.
QUIRE_GOMP bool GOMP_teams4(unsigned, unsigned high, unsigned limit, bool first) {
  variables& own = own_variables();
  if (first) {
    begin_team(0, teams_of_league(high), limit);
    return true;
  }
  if (own.team_number + 1 >= own.teams) return false;
  ++own.team_number;
  return true;
}
QUIRE_GOMP void GOMP_teams(unsigned teams, unsigned limit) {
  (void)teams;  // one, which may be fewer than asked for
  begin_team(0, 1, limit);
}

// ---- What the compiler says while the program runs.

QUIRE_GOMP void GOMP_warning(const char* text, std::size_t) {
  std::fprintf(stderr, "quire: OpenMP: error directive encountered: %s\n", text != nullptr ? text : "");
}
QUIRE_GOMP void GOMP_error(const char* text, std::size_t) {
  char line[600];
  std::snprintf(line, sizeof line, "error directive encountered: %s", text != nullptr ? text : "");
  fail(line, QUIRE_OK);
}
