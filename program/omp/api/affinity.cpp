// SPDX-License-Identifier: BSD-3-Clause
// What programs ask of places, and of where their threads are.
#include <cstddef>

#include "program/omp/gomp/export.hpp"
#include "program/omp/places/places.hpp"
#include "program/omp/team/affinity.hpp"
#include "program/omp/team/team.hpp"

using namespace quire::program;

QUIRE_GOMP int omp_get_proc_bind() { return static_cast<int>(binding_of_region(binding::none, me().active_level)); }
QUIRE_GOMP int omp_get_num_places() { return count_places(); }
QUIRE_GOMP int omp_get_place_num() { return me().seat.place < 0 ? -1 : first_place_here() + me().seat.place; }
QUIRE_GOMP int omp_get_place_num_procs(int number) {
  const processor_set* const p = place_by_number(number);
  return p != nullptr ? p->count() : 0;
}
QUIRE_GOMP void omp_get_place_proc_ids(int number, int* processors) {
  const processor_set* const p = place_by_number(number);
  for (int i = 0; p != nullptr && i < processor_set::most; ++i) {
    if (p->has(i)) *processors++ = i;
  }
}
QUIRE_GOMP int omp_get_partition_num_places() { return me().seat.part.count; }
QUIRE_GOMP void omp_get_partition_place_nums(int* places) {
  const partition mine = me().seat.part;
  for (int i = 0; i < mine.count; ++i) places[i] = first_place_here() + mine.first + i;
}

QUIRE_GOMP void omp_set_affinity_format(const char* format) { set_affinity_format(format); }
QUIRE_GOMP std::size_t omp_get_affinity_format(char* to, std::size_t room) { return read_affinity_format(to, room); }
QUIRE_GOMP std::size_t omp_capture_affinity(char* to, std::size_t room, const char* format) {
  return describe_affinity(to, room, format);
}
QUIRE_GOMP void omp_display_affinity(const char* format) { display_affinity(format); }

// The names that LLVM's omp.h and Intel's have for these.
QUIRE_GOMP void ompc_set_affinity_format(const char* format) { omp_set_affinity_format(format); }
QUIRE_GOMP std::size_t ompc_get_affinity_format(char* to, std::size_t room) {
  return omp_get_affinity_format(to, room);
}
QUIRE_GOMP std::size_t ompc_capture_affinity(char* to, std::size_t room, const char* format) {
  return omp_capture_affinity(to, room, format);
}
QUIRE_GOMP void ompc_display_affinity(const char* format) { omp_display_affinity(format); }
