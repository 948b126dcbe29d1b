// SPDX-License-Identifier: BSD-3-Clause
// Loading UCX with Quire's settings; see library.hpp.
#include "transport/ucx/library.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/log.hpp"
#include "os/redirect.hpp"

namespace quire::transport::ucx {
namespace {

/// Settings that UCX reads while it is loaded. What the user has set in the environment wins, always.
struct setting {
  const char* name;
  const char* value;
};
constexpr setting load_settings[] = {
    {"UCX_HANDLE_ERRORS", "none"},  // no handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE: faults are ours
    {"UCX_DEBUG_SIGNO", "0"},       // no handler for SIGHUP, which would start a debugger where a program ends
    {"UCX_MEM_EVENTS", "n"},        // no patches of mmap, munmap, madvise: right for TCP and shared memory
    {"UCX_VFS_ENABLE", "n"},        // no thread and no directory for inspection
    {"UCX_LOG_LEVEL", "fatal"},     // UCX writes to standard output; Quire itself tells what was lost
};
constexpr std::size_t settings = sizeof load_settings / sizeof *load_settings;

/// In place of UCX's abort(), at assertions of its own and where it has no memory. In version 1.13 some fail in the
/// survivors of a dead peer (tcp_iface.c: an endpoint that was closed while its event was on the way; wireup_ep.c: one
/// that was closed while it was being connected). A status that says so, instead of a signal, lets the launcher name
/// the dead one. No core file: UCX's own words say where.
[[noreturn]] void on_abort() noexcept {
  base::die(
      QUIRE_PEER_LOST,
      "UCX has given up, as it may when another node dies (its own words are on standard output); this node ends");
}

template <class F>
bool find(void* handle, const char* name, F& function) noexcept {
  function = reinterpret_cast<F>(::dlsym(handle, name));
  if (function == nullptr) base::log(base::log_level::error, "UCX lacks the function %s", name);
  return function != nullptr;
}

/// The settings are in the environment during the loading only: programs that the application starts do not see them.
void* load_with_settings() noexcept {
  bool ours[settings];
  for (std::size_t i = 0; i < settings; ++i) {
    ours[i] = ::getenv(load_settings[i].name) == nullptr;
    if (ours[i]) ::setenv(load_settings[i].name, load_settings[i].value, 0);
  }
  void* const handle = ::dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr)
    base::log(base::log_level::error, "UCX cannot be loaded: %s (Debian: apt install libucx0)", ::dlerror());
  for (std::size_t i = 0; i < settings; ++i) {
    if (ours[i]) ::unsetenv(load_settings[i].name);
  }
  return handle;
}

const library* load_once() noexcept {
  static library functions;
  void* const handle = load_with_settings();
  if (handle == nullptr) return nullptr;
#define QUIRE_UCP_FIND(name) \
  if (!find(handle, "ucp_" #name, functions.name)) return nullptr;
  QUIRE_UCP_FUNCTIONS(QUIRE_UCP_FIND)
#undef QUIRE_UCP_FIND
  const os::redirection calls[] = {{"abort", reinterpret_cast<void*>(&on_abort)}};
  if (os::redirect("libucs", calls) == 0) base::log(base::log_level::debug, "this build of UCX aborts by itself");
  return find(handle, "ucs_status_string", functions.status_string) ? &functions : nullptr;
}

}  // namespace

base::result<const library*> load() noexcept {
  static const library* const loaded = load_once();
  if (loaded == nullptr) return QUIRE_UNSUPPORTED;
  return loaded;
}

}  // namespace quire::transport::ucx
