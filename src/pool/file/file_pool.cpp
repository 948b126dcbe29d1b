// SPDX-License-Identifier: BSD-3-Clause
// A regular file mapped twice (ParADE, file mapping): the only pool whose pages may leave memory, at the price of the
// kernel's writeback. Filled by ftruncate(), sparse, or by write(), so that the disk's room is taken at the start. The
// file has no name from the start: a crash leaves nothing.
#include <cerrno>

#include "base/log.hpp"
#include "os/memory.hpp"
#include "os/segments.hpp"
#include "pool/two_views.hpp"

namespace quire::pool {

base::result<std::unique_ptr<pool>> make_file(const request& r, const settings& how) {
  const std::string directory = os::temporary_directory(how.directory);
  const std::uint64_t room = os::free_bytes(directory.c_str());
  if (how.written && room < r.bytes) {
    base::log(base::log_level::error,
              "%s has room for %lu MiB, and %lu MiB are to be written there: set QUIRE_RANGE to less, QUIRE_POOL_DIR "
              "to another "
              "directory, or QUIRE_POOL_FILL to truncate",
              directory.c_str(), static_cast<unsigned long>(room >> 20), static_cast<unsigned long>(r.bytes >> 20));
    return QUIRE_NO_MEMORY;
  }
  const int fd = os::make_temporary_file(directory.c_str(), r.bytes);
  if (fd < 0) {
    base::log(base::log_level::error, "no file for shared memory can be made in %s (QUIRE_POOL_DIR)",
              directory.c_str());
    return failed(r, "create", -fd);
  }
  if (how.written) {
    if (const int error = os::write_zeroes(fd, r.bytes); error != 0) {
      os::close_descriptor(fd);
      return failed(r, "write", error);
    }
  }
  return map_twice(r, fd);
}

}  // namespace quire::pool
