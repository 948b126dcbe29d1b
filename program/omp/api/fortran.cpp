// SPDX-License-Identifier: BSD-3-Clause
// The omp_* functions under the names that Fortran compilers have for them: arguments come by address, and where a
// program is compiled with integers of eight bytes gfortran appends _8_ to the name.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "program/omp/gomp/export.hpp"

namespace {

int narrow(std::int64_t value) noexcept {
  return static_cast<int>(
      std::clamp<std::int64_t>(value, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

/// A list of `count` numbers, which `list` writes.
template <class List>
void widen(int count, std::int64_t* to, List list) {
  int found[1024];
  if (count <= 0 || count > 1024) return;
  list(found);
  std::copy(found, found + count, to);
}

}  // namespace

/// Without arguments.
#define QUIRE_ASK(type, name) \
  extern "C" type name();     \
  QUIRE_GOMP type name##_() { return name(); }
QUIRE_ASK(int, omp_get_thread_num)
QUIRE_ASK(int, omp_get_num_threads)
QUIRE_ASK(int, omp_get_max_threads)
QUIRE_ASK(int, omp_get_num_procs)
QUIRE_ASK(int, omp_get_thread_limit)
QUIRE_ASK(int, omp_in_parallel)
QUIRE_ASK(int, omp_get_level)
QUIRE_ASK(int, omp_get_active_level)
QUIRE_ASK(int, omp_get_max_active_levels)
QUIRE_ASK(int, omp_get_supported_active_levels)
QUIRE_ASK(int, omp_get_nested)
QUIRE_ASK(int, omp_get_dynamic)
QUIRE_ASK(int, omp_get_cancellation)
QUIRE_ASK(int, omp_get_num_devices)
QUIRE_ASK(int, omp_is_initial_device)
QUIRE_ASK(int, omp_get_num_teams)
QUIRE_ASK(int, omp_get_team_num)
QUIRE_ASK(int, omp_get_max_teams)
QUIRE_ASK(int, omp_get_teams_thread_limit)
QUIRE_ASK(int, omp_get_max_task_priority)
QUIRE_ASK(int, omp_get_default_device)
QUIRE_ASK(int, omp_get_initial_device)
QUIRE_ASK(int, omp_get_device_num)
QUIRE_ASK(int, omp_get_proc_bind)
QUIRE_ASK(int, omp_get_num_places)
QUIRE_ASK(int, omp_get_place_num)
QUIRE_ASK(int, omp_get_partition_num_places)
QUIRE_ASK(int, omp_in_final)
QUIRE_ASK(int, omp_in_explicit_task)
QUIRE_ASK(int, omp_is_free_agent)
QUIRE_ASK(std::uintptr_t, omp_get_default_allocator)
QUIRE_ASK(double, omp_get_wtime)
QUIRE_ASK(double, omp_get_wtick)

/// With one number.
#define QUIRE_TELL(type, name)                                                \
  extern "C" type name(int);                                                  \
  QUIRE_GOMP type name##_(const std::int32_t* value) { return name(*value); } \
  QUIRE_GOMP type name##_8_(const std::int64_t* value) { return name(narrow(*value)); }
QUIRE_TELL(void, omp_set_num_threads)
QUIRE_TELL(void, omp_set_max_active_levels)
QUIRE_TELL(void, omp_set_nested)
QUIRE_TELL(void, omp_set_dynamic)
QUIRE_TELL(void, omp_set_num_teams)
QUIRE_TELL(void, omp_set_teams_thread_limit)
QUIRE_TELL(void, omp_set_default_device)
QUIRE_TELL(void, omp_display_env)
QUIRE_TELL(int, omp_get_place_num_procs)
QUIRE_TELL(int, omp_pause_resource_all)
QUIRE_TELL(int, omp_get_ancestor_thread_num)
QUIRE_TELL(int, omp_get_team_size)
QUIRE_TELL(int, omp_ancestor_is_free_agent)

/// With a lock, which a program in C has by address too.
#define QUIRE_LOCK(type, name) \
  extern "C" type name(void*); \
  QUIRE_GOMP type name##_(void* l) { return name(l); }
#define QUIRE_LOCKS(kind)                                                             \
  QUIRE_LOCK(void, omp_init_##kind)                                                   \
  QUIRE_LOCK(void, omp_destroy_##kind)                                                \
  QUIRE_LOCK(void, omp_set_##kind)                                                    \
  QUIRE_LOCK(void, omp_unset_##kind)                                                  \
  QUIRE_LOCK(int, omp_test_##kind)                                                    \
  extern "C" void omp_init_##kind##_with_hint(void*, int);                            \
  QUIRE_GOMP void omp_init_##kind##_with_hint_(void* l, const std::int32_t* hint) {   \
    omp_init_##kind##_with_hint(l, *hint);                                            \
  }                                                                                   \
  QUIRE_GOMP void omp_init_##kind##_with_hint_8_(void* l, const std::int64_t* hint) { \
    omp_init_##kind##_with_hint(l, narrow(*hint));                                    \
  }
QUIRE_LOCKS(lock)
QUIRE_LOCKS(nest_lock)

// ---- Two numbers, or more.

extern "C" {
void omp_set_schedule(unsigned kind, int chunk);
void omp_get_schedule(unsigned* kind, int* chunk);
int omp_pause_resource(int kind, int device);
void omp_get_place_proc_ids(int place, int* ids);
void omp_get_partition_place_nums(int* places);
}
QUIRE_GOMP void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), *chunk);
}
QUIRE_GOMP void omp_set_schedule_8_(const std::int32_t* kind, const std::int64_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), narrow(*chunk));
}
QUIRE_GOMP void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) {
  omp_get_schedule(reinterpret_cast<unsigned*>(kind), chunk);
}
QUIRE_GOMP void omp_get_schedule_8_(std::int32_t* kind, std::int64_t* chunk) {
  int found = 0;
  omp_get_schedule(reinterpret_cast<unsigned*>(kind), &found);
  *chunk = found;
}
QUIRE_GOMP int omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
  return omp_pause_resource(*kind, *device);
}
QUIRE_GOMP void omp_get_place_proc_ids_(const std::int32_t* place, std::int32_t* ids) {
  omp_get_place_proc_ids(*place, ids);
}
QUIRE_GOMP void omp_get_place_proc_ids_8_(const std::int64_t* place, std::int64_t* ids) {
  widen(omp_get_place_num_procs(narrow(*place)), ids,
        [&](int* found) { omp_get_place_proc_ids(narrow(*place), found); });
}
QUIRE_GOMP void omp_get_partition_place_nums_(std::int32_t* places) { omp_get_partition_place_nums(places); }
QUIRE_GOMP void omp_get_partition_place_nums_8_(std::int64_t* places) {
  widen(omp_get_partition_num_places(), places, omp_get_partition_place_nums);
}

extern "C" int omp_control_tool(int command, int modifier, void* argument);
QUIRE_GOMP int omp_control_tool_(const std::int32_t* command, const std::int32_t* modifier, void* argument) {
  return omp_control_tool(*command, *modifier, argument);
}

// ---- Allocators and events, by handles of eight bytes.

extern "C" {
struct trait;
std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const trait* traits);
void omp_destroy_allocator(std::uintptr_t handle);
void omp_set_default_allocator(std::uintptr_t handle);
void omp_fulfill_event(std::uintptr_t event);
}
QUIRE_GOMP std::uintptr_t omp_init_allocator_(const std::uintptr_t* space, const std::int32_t* count,
                                              const trait* traits) {
  return omp_init_allocator(*space, *count, traits);
}
QUIRE_GOMP std::uintptr_t omp_init_allocator_8_(const std::uintptr_t* space, const std::int64_t* count,
                                                const trait* traits) {
  return omp_init_allocator(*space, narrow(*count), traits);
}
QUIRE_GOMP void omp_destroy_allocator_(const std::uintptr_t* handle) { omp_destroy_allocator(*handle); }
QUIRE_GOMP void omp_set_default_allocator_(const std::uintptr_t* handle) { omp_set_default_allocator(*handle); }
/// Its handle comes by value, as omp_lib says of this one alone.
QUIRE_GOMP void omp_fulfill_event_(std::uintptr_t event) { omp_fulfill_event(event); }

// ---- Texts, whose lengths come last; they end with blanks instead of a zero.

extern "C" {
void omp_set_affinity_format(const char* format);
std::size_t omp_get_affinity_format(char* to, std::size_t room);
std::size_t omp_capture_affinity(char* to, std::size_t room, const char* format);
void omp_display_affinity(const char* format);
}

namespace {

std::string text_of(const char* at, std::size_t length) {
  while (length > 0 && at[length - 1] == ' ') --length;
  return {at, length};
}

/// Fills a text of the caller's from a function that writes as C does, and returns how long it is.
template <class Write>
std::int64_t fill(char* to, std::size_t length, Write&& write) {
  std::string whole(write(nullptr, 0) + 1, ' ');
  const std::size_t found = write(whole.data(), whole.size());
  std::memset(to, ' ', length);
  std::memcpy(to, whole.data(), std::min(found, length));
  return static_cast<std::int64_t>(found);
}

}  // namespace

QUIRE_GOMP void omp_set_affinity_format_(const char* format, std::size_t length) {
  omp_set_affinity_format(text_of(format, length).c_str());
}
QUIRE_GOMP std::int64_t omp_get_affinity_format_(char* to, std::size_t length) {
  return fill(to, length, omp_get_affinity_format);
}
QUIRE_GOMP void omp_display_affinity_(const char* format, std::size_t length) {
  omp_display_affinity(text_of(format, length).c_str());
}
/// LLVM's and Intel's compilers look at all eight bytes of the result, gcc's at four.
QUIRE_GOMP std::int64_t omp_capture_affinity_(char* to, const char* format, std::size_t length,
                                              std::size_t format_length) {
  const std::string wanted = text_of(format, format_length);
  return fill(to, length, [&](char* at, std::size_t room) { return omp_capture_affinity(at, room, wanted.c_str()); });
}
