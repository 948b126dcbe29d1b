// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>

#include <atomic>
#include <cstring>

#include "runtime/forward.hpp"
#include "runtime/runtime.hpp"

namespace quire::api {

namespace {
std::atomic<runtime*> g_runtime{nullptr};
std::atomic<split::application_side*> g_elsewhere{nullptr};
std::atomic<bool> g_forked{false};
}  // namespace

void set_current(runtime* r) noexcept { g_runtime.store(r, std::memory_order_release); }
void set_elsewhere(split::application_side* there) noexcept { g_elsewhere.store(there, std::memory_order_release); }
bool is_forked() noexcept { return g_forked.load(); }
void watch_forks() noexcept {
  ::pthread_atfork(nullptr, nullptr, [] { g_forked.store(true); });
}

split::application_side* elsewhere() noexcept {
  auto* const there = g_elsewhere.load(std::memory_order_acquire);
  return there == nullptr || g_forked.load(std::memory_order_relaxed) ? nullptr : there;
}

bool is_split(const char* call, const char* what) noexcept {
  if (elsewhere() == nullptr) return false;
  (void)base::explain(QUIRE_UNSUPPORTED, "%s(): %s do not go with pool 'fork': set QUIRE_POOL to memfd", call, what);
  return true;
}

quire_status fetch_detail(detail_text* into) noexcept {
  std::memcpy(into->text, base::detail(), sizeof into->text);
  return QUIRE_OK;
}

void keep_detail(split::application_side& there) noexcept {
  static_assert(sizeof(forwarder<&fetch_detail>::block) <= split::argument_capacity);
  detail_text said{};
  forwarder<&fetch_detail>::block b{QUIRE_SYSTEM, {carried<detail_text*>(&said)}};
  there.call(forwarder<&fetch_detail>::run, reinterpret_cast<std::byte*>(&b), sizeof b, quire_thread());
  if (b.result == QUIRE_OK) (void)base::explain(QUIRE_OK, "%s", std::get<0>(b.arguments).get()->text);
}

runtime* current() noexcept {
  return g_forked.load(std::memory_order_relaxed) ? nullptr : g_runtime.load(std::memory_order_acquire);
}

quire_status refuse_shared_stack() noexcept {
  return base::explain(QUIRE_UNSUPPORTED,
                       "this call is not made on a stack in shared memory: switch to a private one before");
}

runtime* enter(base::status& why) noexcept {
  runtime* const r = g_runtime.load(std::memory_order_acquire);
  if (g_forked.load(std::memory_order_relaxed)) {
    why = QUIRE_FORKED;
    return nullptr;
  }
  if (r == nullptr) why = QUIRE_NOT_STARTED;
  return r;
}

}  // namespace quire::api
