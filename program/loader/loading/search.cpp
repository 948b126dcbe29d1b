// SPDX-License-Identifier: BSD-3-Clause
#include "program/loader/loading/search.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

#include "os/raw_call.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

bool is_loaded(const char* name) noexcept {
  void* const own = QUIRE_NEXT(dlopen)(name, RTLD_LAZY | RTLD_NOLOAD);
  if (own != nullptr) (void)QUIRE_NEXT(dlclose)(own);
  (void)QUIRE_NEXT(dlerror)();
  return own != nullptr;
}

}  // namespace

void find_library(const char* name, const void* caller, char* path, std::size_t bytes) noexcept {
  (void)::snprintf(path, bytes, "%s", name);
  Dl_info where{};
  void* from = nullptr;
  if (::strchr(name, '/') != nullptr || is_loaded(name) || ::dladdr1(caller, &where, &from, RTLD_DL_LINKMAP) == 0 ||
      from == nullptr)
    return;
  Dl_serinfo about{};
  if (QUIRE_NEXT(dlinfo)(from, RTLD_DI_SERINFOSIZE, &about) != 0) return;
  const std::unique_ptr<char[]> room(new char[about.dls_size]);
  auto* const folders = reinterpret_cast<Dl_serinfo*>(room.get());
  if (QUIRE_NEXT(dlinfo)(from, RTLD_DI_SERINFOSIZE, folders) != 0 ||
      QUIRE_NEXT(dlinfo)(from, RTLD_DI_SERINFO, folders) != 0)
    return;
  for (unsigned i = 0; i < folders->dls_cnt; ++i) {
    const int length = ::snprintf(path, bytes, "%s/%s", folders->dls_serpath[i].dls_name, name);
    if (length > 0 && static_cast<std::size_t>(length) < bytes &&
        os::raw_call(SYS_access, reinterpret_cast<long>(path), R_OK, 0) == 0)
      return;
  }
  (void)::snprintf(path, bytes, "%s", name);
}

}  // namespace quire::program
