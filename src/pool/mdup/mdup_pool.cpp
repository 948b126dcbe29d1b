// SPDX-License-Identifier: BSD-3-Clause
// Shared anonymous memory, and a second range of addresses for the same pages. ParADE added a system call mdup() to
// Linux for that; mremap() with an old size of 0 has become the same: it duplicates the mapping and leaves the old one.
// There is no descriptor: nobody else can ever map these pages.
#include <sys/mman.h>

#include "os/memory.hpp"
#include "os/segments.hpp"
#include "pool/two_views.hpp"

namespace quire::pool {

base::result<std::unique_ptr<pool>> make_mdup(const request& r) {
  int error = 0;
  void* const application = os::map_shared(-1, r.bytes, r.application(), true, error);
  if (application == nullptr) return failed(r, "map", error);
  auto* const system = static_cast<std::byte*>(os::mdup(application, r.bytes, nullptr, error));
  if (system != nullptr && !r.accessible) error = os::protect(application, r.bytes, PROT_NONE);
  if (error == 0) return own_views(r, system);
  os::unmap(application, r.bytes);
  os::unmap(system, r.bytes);
  return failed(r, "duplicate", error);
}

}  // namespace quire::pool
