// SPDX-License-Identifier: BSD-3-Clause
// There are no devices but the host: what omp_* says of it, and memory "there".
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "openmp/gomp/export.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;

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
