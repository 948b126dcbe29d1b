// SPDX-License-Identifier: BSD-3-Clause
// Looking up what interposed functions stand in front of: when the library is loaded, so that no call has to do it in a
// signal handler or a fault.
#include "libc/table.hpp"

#include <dlfcn.h>
#include <errno.h>

#include <cstring>

// The linker names the two ends of a section.
extern "C" {
extern quire::api::calls::row __start_quire_calls[] QUIRE_HIDDEN;
extern quire::api::calls::row __stop_quire_calls[] QUIRE_HIDDEN;
}

namespace quire::api::calls {

row* begin_rows() noexcept { return __start_quire_calls; }
row* end_rows() noexcept { return __stop_quire_calls; }

void* find_real(row& of) noexcept {
  void* found = ::dlsym(RTLD_NEXT, of.name);
  if (found == nullptr) {
    // libc stands before this library, not behind it.
    // No static object: its guard may lock, and so call what is looked up here.
    void* const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (libc != nullptr) found = ::dlsym(libc, of.name);
  }
  if (found != nullptr) {
    of.real.store(found, std::memory_order_relaxed);
  } else {
    errno = ENOSYS;
  }
  return found;
}

namespace {
[[gnu::constructor(101)]] void look_all_up() {
  const int saved = errno;
  for (row* r = begin_rows(); r != end_rows(); ++r) {
    if (r->real.load(std::memory_order_relaxed) == nullptr) (void)find_real(*r);
  }
  errno = saved;
}
}  // namespace

}  // namespace quire::api::calls
