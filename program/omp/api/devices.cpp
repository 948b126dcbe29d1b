// SPDX-License-Identifier: BSD-3-Clause
// There are no devices but the host: what omp_* says of it, and memory "there".
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "program/omp/gomp/dependences.hpp"
#include "program/omp/gomp/export.hpp"
#include "program/omp/team/tasking.hpp"
#include "program/omp/team/team.hpp"

using namespace quire::program;

namespace {

constexpr bool is_host(int device) noexcept { return device == 0 || device == -1; }

struct plane {
  std::size_t element;
  int dimensions;
  const std::size_t *volume, *to_offsets, *from_offsets, *to_dimensions, *from_dimensions;
};
/// Copies a part of an array of several dimensions, from the outermost one, `at`, on.
void copy_plane(std::byte* to, const std::byte* from, const plane& p, int at) noexcept {
  std::size_t to_stride = p.element, from_stride = p.element;
  for (int i = at + 1; i < p.dimensions; ++i) {
    to_stride *= p.to_dimensions[i];
    from_stride *= p.from_dimensions[i];
  }
  to += p.to_offsets[at] * to_stride;
  from += p.from_offsets[at] * from_stride;
  if (at + 1 == p.dimensions) {
    std::memmove(to, from, p.volume[at] * p.element);
    return;
  }
  for (std::size_t i = 0; i < p.volume[at]; ++i) copy_plane(to + i * to_stride, from + i * from_stride, p, at + 1);
}

}  // namespace

QUIRE_GOMP int omp_get_num_devices() { return 0; }
QUIRE_GOMP int omp_is_initial_device() { return 1; }
QUIRE_GOMP int omp_get_initial_device() { return 0; }
QUIRE_GOMP int omp_get_device_num() { return 0; }
QUIRE_GOMP int omp_get_default_device() { return own_variables().device; }
QUIRE_GOMP void omp_set_default_device(int device) { own_variables().device = device < 0 ? 0 : device; }

QUIRE_GOMP void* omp_target_alloc(std::size_t bytes, int device) {
  return is_host(device) ? std::malloc(bytes) : nullptr;
}
QUIRE_GOMP void omp_target_free(void* at, int device) {
  if (is_host(device)) std::free(at);
}
QUIRE_GOMP int omp_target_is_present(const void* at, int device) { return at == nullptr || is_host(device) ? 1 : 0; }
QUIRE_GOMP int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                                 std::size_t from_offset, int to_device, int from_device) {
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  std::memmove(static_cast<std::byte*>(to) + to_offset, static_cast<const std::byte*>(from) + from_offset, bytes);
  return 0;
}
QUIRE_GOMP int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions,
                                      const std::size_t* volume, const std::size_t* to_offsets,
                                      const std::size_t* from_offsets, const std::size_t* to_dimensions,
                                      const std::size_t* from_dimensions, int to_device, int from_device) {
  if (to == nullptr && from == nullptr) return INT_MAX;
  if (!is_host(to_device) || !is_host(from_device) || dimensions < 1 || element == 0) return EINVAL;
  copy_plane(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
             {element, dimensions, volume, to_offsets, from_offsets, to_dimensions, from_dimensions}, 0);
  return 0;
}
QUIRE_GOMP int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) { return EINVAL; }
QUIRE_GOMP int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }
QUIRE_GOMP void* omp_get_mapped_ptr(const void* at, int device) {
  return is_host(device) ? const_cast<void*>(at) : nullptr;
}
QUIRE_GOMP int omp_target_is_accessible(const void*, std::size_t, int device) { return is_host(device) ? 1 : 0; }
QUIRE_GOMP void* omp_target_memset(void* at, int value, std::size_t bytes, int device) {
  return is_host(device) && bytes != 0 ? std::memset(at, value, bytes) : at;
}

// ---- The same as tasks, which wait for what `count` objects of type omp_depend_t say.

namespace {

/// Objects have 16 bytes.
struct depend_object {
  void* words[2];
};
dependence_list dependences_of_objects(int count, depend_object* objects) {
  constexpr std::size_t in_front = 5;
  std::vector<void*, private_allocator<void*>> all(in_front + static_cast<std::size_t>(std::max(count, 0)));
  all[1] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(all.size() - in_front));
  for (std::size_t i = in_front; i < all.size(); ++i) all[i] = &objects[i - in_front];
  return dependences_of(all.data());
}

template <class Work>
void start(const Work& work, int count, depend_object* objects) {
  user_task* const t = make_task([](void* at) { (*static_cast<Work*>(at))(); }, sizeof(Work), alignof(Work));
  new (t->arguments) Work(work);
  start_task(t, {.on = dependences_of_objects(count, objects)});
}

}  // namespace

QUIRE_GOMP int omp_target_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                                       std::size_t from_offset, int to_device, int from_device, int count,
                                       depend_object* objects) {
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  start([=] { (void)omp_target_memcpy(to, from, bytes, to_offset, from_offset, 0, 0); }, count, objects);
  return 0;
}
/// The lists of numbers are the caller's, who may change them at once.
QUIRE_GOMP int omp_target_memcpy_rect_async(void* to, const void* from, std::size_t element, int dimensions,
                                            const std::size_t* volume, const std::size_t* to_offsets,
                                            const std::size_t* from_offsets, const std::size_t* to_dimensions,
                                            const std::size_t* from_dimensions, int to_device, int from_device,
                                            int count, depend_object* objects) {
  if (to == nullptr && from == nullptr) return INT_MAX;
  constexpr int most = 16;
  if (!is_host(to_device) || !is_host(from_device) || dimensions < 1 || dimensions > most || element == 0)
    return EINVAL;
  struct numbers {
    std::size_t of[5][most];
  } all;
  const std::size_t* const lists[] = {volume, to_offsets, from_offsets, to_dimensions, from_dimensions};
  for (int i = 0; i < 5; ++i) std::copy_n(lists[i], dimensions, all.of[i]);
  start(
      [=] {
        (void)omp_target_memcpy_rect(to, from, element, dimensions, all.of[0], all.of[1], all.of[2], all.of[3],
                                     all.of[4], 0, 0);
      },
      count, objects);
  return 0;
}
QUIRE_GOMP void* omp_target_memset_async(void* at, int value, std::size_t bytes, int device, int count,
                                         depend_object* objects) {
  if (is_host(device)) start([=] { (void)omp_target_memset(at, value, bytes, 0); }, count, objects);
  return at;
}
