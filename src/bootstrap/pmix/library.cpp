// SPDX-License-Identifier: BSD-3-Clause
// Loading PMIx; see library.hpp. Empty in a build without PMIx.
#ifdef QUIRE_HAVE_PMIX
#include "bootstrap/pmix/library.hpp"

#include <dlfcn.h>

#include "base/log.hpp"

namespace quire::bootstrap::pmix {
namespace {

template <class F>
bool find(void* handle, const char* name, F& function) noexcept {
  function = reinterpret_cast<F>(::dlsym(handle, name));
  if (function == nullptr) base::log(base::log_level::error, "PMIx lacks the function %s", name);
  return function != nullptr;
}

const library* load_once() noexcept {
  static library functions;
  void* handle = nullptr;
  // Where the loader looks, else where it was when Quire was built.
  for (const char* const name : {"libpmix.so.2", QUIRE_PMIX_DIRECTORY "/libpmix.so.2"}) {
    handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle != nullptr) break;
  }
  if (handle == nullptr) {
    base::log(base::log_level::error,
              "the launcher speaks PMIx, but its library cannot be loaded: %s (Debian: apt install libpmix2)",
              ::dlerror());
    return nullptr;
  }
#define QUIRE_PMIX_FIND(name) \
  if (!find(handle, "PMIx_" #name, functions.name)) return nullptr;
  QUIRE_PMIX_FUNCTIONS(QUIRE_PMIX_FIND)
#undef QUIRE_PMIX_FIND
  return &functions;
}

}  // namespace

base::result<const library*> load() noexcept {
  static const library* const loaded = load_once();
  if (loaded == nullptr) return QUIRE_UNSUPPORTED;
  return loaded;
}

}  // namespace quire::bootstrap::pmix
#endif
