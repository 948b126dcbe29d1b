// SPDX-License-Identifier: BSD-3-Clause
// A POSIX shared memory object mapped twice: what memfd is today for systems that had no memfd. It is made where
// shm_open() makes them, and without a name: the name of shm_open() would stay if the process were killed before
// shm_unlink().
#include "os/memory.hpp"
#include "os/file_size.hpp"
#include "os/segments.hpp"
#include "pool/two_views.hpp"

namespace quire::pool {

base::result<std::unique_ptr<pool>> make_posix(const request& r) {
  const os::file_size_scope scope(os::file_size_scope::limit::raised);  // it is memory
  const int fd = os::make_temporary_file(os::posix_objects, r.bytes);
  return fd < 0 ? failed(r, "create", -fd) : map_twice(r, fd);
}

}  // namespace quire::pool
