// A POSIX shared memory object mapped twice: what memfd is today for systems that had no memfd. Its name is gone before
// anybody can see it.
#include "os/memory.hpp"
#include "os/segments.hpp"
#include "pool/two_views.hpp"

namespace quire::pool {

base::result<std::unique_ptr<pool>> make_posix(const request& r) {
  const int fd = os::make_posix_object(r.bytes);
  return fd < 0 ? failed(r, "create", -fd) : map_twice(r, fd);
}

}  // namespace quire::pool
