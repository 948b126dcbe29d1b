// SPDX-License-Identifier: BSD-3-Clause
// The default pool: one memfd mapped twice. Sparse: a terabyte costs nothing until touched. It has no name, so that a
// crash leaves nothing.
#include "os/memory.hpp"
#include "pool/two_views.hpp"

namespace quire::pool {

base::result<std::unique_ptr<pool>> make_memfd(const request& r) {
  const int fd = os::make_memfd("quire", r.bytes);
  return fd < 0 ? failed(r, "create", -fd) : map_twice(r, fd);
}

}  // namespace quire::pool
