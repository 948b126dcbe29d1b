// SPDX-License-Identifier: BSD-3-Clause
// System V shared memory attached twice (ParADE). One segment where the limits allow it, else a series that makes one
// contiguous area. Each is marked for removal as soon as it has been attached, so that it goes with the process,
// however that ends; what is killed between shmget() and that mark is removed when the next pool is made. userfaultfd
// takes no System V segments.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "os/memory.hpp"
#include "os/segments.hpp"
#include "pool/two_views.hpp"

namespace quire::pool {
namespace {

/// One segment at `offset` of both views. 0 or errno.
int attach(const request& r, std::byte* system, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const int id = os::make_segment(bytes);
  if (id < 0) return -id;
  int error = os::attach_segment(id, r.application() + offset);
  if (error == 0) error = os::attach_segment(id, system + offset);
  os::remove_segment(id);
  return error;
}

}  // namespace

base::result<std::unique_ptr<pool>> make_sysv(const request& r, const settings& how) {
  const os::segment_limits limits = os::read_segment_limits();
  const std::uint64_t most = how.segment != 0 ? how.segment : limits.bytes;
  const std::uint64_t segment =
      std::max<std::uint64_t>(std::min(r.bytes, most) & ~(os::page_bytes - 1), os::page_bytes);
  if ((r.bytes + segment - 1) / segment > limits.count) {
    base::log(base::log_level::error,
              "%lu MiB need more System V segments of %lu bytes (kernel.shmmax) than the %lu that kernel.shmmni "
              "allows: raise one of "
              "them, or set QUIRE_POOL to memfd",
              static_cast<unsigned long>(r.bytes >> 20), static_cast<unsigned long>(segment),
              static_cast<unsigned long>(limits.count));
    return QUIRE_NO_MEMORY;
  }
  os::remove_dead_segments();
  int error = 0;
  auto* const system = static_cast<std::byte*>(os::reserve(r.bytes, nullptr, error));
  if (system == nullptr) return failed(r, "reserve addresses for", error);
  for (std::uint64_t at = 0; at < r.bytes && error == 0; at += segment) {
    error = attach(r, system, at, std::min(segment, r.bytes - at));
  }
  if (error == 0 && !r.accessible) error = os::protect(r.application(), r.bytes, PROT_NONE);
  if (error == 0) return own_views(r, system);
  os::unmap(system, r.bytes);
  os::unmap(r.application(), r.bytes);
  if (error == ENOSPC) {
    base::log(base::log_level::error, "kernel.shmall or kernel.shmmni allows no more System V shared memory");
  }
  return failed(r, "attach", error);
}

}  // namespace quire::pool
