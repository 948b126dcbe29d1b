// SPDX-License-Identifier: BSD-3-Clause
// Loading libfuse3; see library.hpp. Empty in a build without libfuse3.
#ifdef QUIRE_HAVE_FUSE
#include "mount/library.hpp"

#include <dlfcn.h>

namespace quire::mount {
namespace {

// The library has to be that of the headers: with 3.17 its structures have changed.
constexpr const char* soname = FUSE_MAJOR_VERSION == 3 && FUSE_MINOR_VERSION < 17 ? "libfuse3.so.3" : "libfuse3.so.4";

template <class F>
bool find(void* handle, const char* name, F& function, std::string& why) {
  void* found = ::dlsym(handle, name);
  if (found == nullptr) found = ::dlvsym(handle, name, "FUSE_3.0");  // of what was replaced later
  function = reinterpret_cast<F>(found);
  if (function == nullptr) why = std::string(soname) + " lacks the function " + name;
  return function != nullptr;
}

const library* load_once(std::string& why) {
  static library functions;
  void* const handle = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    why = std::string("libfuse3 cannot be loaded: ") + ::dlerror() + " (Debian: apt install libfuse3-3 fuse3)";
    return nullptr;
  }
#define QUIRE_FUSE_FIND(name) \
  if (!find(handle, "fuse_" #name, functions.name, why)) return nullptr;
  QUIRE_FUSE_FUNCTIONS(QUIRE_FUSE_FIND)
#undef QUIRE_FUSE_FIND
  return &functions;
}

}  // namespace

const library* load(std::string& why) {
  static std::string reason;
  static const library* const loaded = load_once(reason);
  why = reason;
  return loaded;
}

}  // namespace quire::mount
#endif
