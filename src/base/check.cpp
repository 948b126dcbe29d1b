// SPDX-License-Identifier: BSD-3-Clause
#include "base/check.hpp"

#include <atomic>
#include <cstdlib>

#include "base/log.hpp"

namespace quire::base {
namespace {
std::atomic<check_hook> g_hook{nullptr};
}

void set_check_hook(check_hook hook) noexcept { g_hook.store(hook); }

void check_failed(const char* expression, const char* file, int line) noexcept {
  log(log_level::error, "broken belief: %s (%s:%d); this is a bug in Quire, please report it", expression, file, line);
  if (const auto hook = g_hook.load()) hook();
  std::abort();
}

}  // namespace quire::base
