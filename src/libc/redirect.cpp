// SPDX-License-Identifier: BSD-3-Clause
#include "libc/redirect.hpp"

#include <dlfcn.h>
#include <quire/system.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "libc/libc.hpp"
#include "libc/signals.hpp"
#include "libc/table.hpp"
#include "os/redirect.hpp"
#include "runtime/range.hpp"

namespace quire::api::calls {
namespace {

std::atomic<bool> g_stale{false};  ///< a library has been loaded, and was not looked at yet

std::atomic<bool> g_redirects{false};
constinit os::looked_at g_looked_at;

void* own_dlopen(const char* file, int mode);
void* own_dlsym(void* handle, const char* name);

/// Else it is of a runtime, which tells of libraries itself (quire_note_libraries()).
bool is_libcs(const void* function) noexcept {
  Dl_info in{};
  return ::dladdr(function, &in) == 0 || std::strstr(in.dli_fname, "/libc.so") != nullptr ||
         std::strstr(in.dli_fname, "/libdl.so") != nullptr;
}

const std::vector<os::replacement>& replacements() {
  static const std::vector<os::replacement> all = [] {
    std::vector<os::replacement> list;
    const auto add = [&list](const char* name, void* own, void* real) {
      if (real != nullptr) list.push_back({name, own, real, ::dlsym(RTLD_DEFAULT, name) == real});
    };
    for (const row* r = begin_rows(); r != end_rows(); ++r)
      add(r->name, r->own, r->real.load(std::memory_order_relaxed));
    if (is_libcs(reinterpret_cast<const void*>(&::dlopen))) {
      add("dlopen", reinterpret_cast<void*>(&own_dlopen), reinterpret_cast<void*>(&::dlopen));
      add("dlsym", reinterpret_cast<void*>(&own_dlsym), reinterpret_cast<void*>(&::dlsym));
    }
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return std::strcmp(a.function, b.function) < 0; });
    return list;
  }();
  return all;
}

void redirect_all() noexcept {
  g_stale.store(false);
  os::redirect_everywhere(replacements(), reinterpret_cast<const void*>(&redirect_all), g_looked_at);
}

/// The linker looks for a bare name where its caller says, so that it must not notice this function: the jump at its
/// end leaves the caller's return address. The library is looked at when one of its functions is asked for, or at the
/// next dlopen().
void* own_dlopen(const char* file, int mode) {
  if (file == nullptr || std::strchr(file, '/') == nullptr) {
    g_stale.store(true);
    return ::dlopen(file, mode);
  }
  void* const found = ::dlopen(file, mode);
  if (found != nullptr) redirect_all();
  return found;
}
void* own_dlsym(void* handle, const char* name) {
  if (g_stale.load(std::memory_order_relaxed)) redirect_all();
  return ::dlsym(handle, name);
}

}  // namespace

void redirect_others() noexcept {
  const row* const any = begin_rows();
  if (::dlsym(RTLD_DEFAULT, any->name) == any->own) return;
  g_redirects.store(true);
  redirect_all();
}

void redirect_new() noexcept {
  if (g_redirects.load()) redirect_all();
}

void take_over(std::uint64_t base, std::uint64_t bytes) noexcept {
  watch_range(base, bytes);
  redirect_others();
  take_over_signals();
}

}  // namespace quire::api::calls

void quire_note_libraries() { quire::api::calls::redirect_new(); }
