// SPDX-License-Identifier: BSD-3-Clause
#include "api/failure.hpp"

#include "runtime/forward.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/survival.hpp"
#include "model/membership.hpp"
#include "os/futex.hpp"
#include "os/own_thread.hpp"

namespace quire::api {

failure_service::failure_service(core::core& e) : core_(e) {
  if (!e.config.survives) return;
  e.survival.on_deaths(
      [](void* self, unsigned node) noexcept {
        static_cast<failure_service*>(self)->dead_.fetch_or(std::uint64_t{1} << node);
      },
      this, false);
  e.survival.on_deaths(
      [](void* self, unsigned node) noexcept {
        auto& s = *static_cast<failure_service*>(self);
        const unsigned n = s.over_.load(std::memory_order_relaxed);
        s.order_[n] = static_cast<std::uint8_t>(node);
        s.over_.store(n + 1, std::memory_order_release);
        s.bell_.fetch_add(1);
        os::futex_wake(s.bell_, 1);
      },
      this, true);
}

base::status failure_service::set(quire_failure_handler handler, void* context) {
  if (!core_.config.survives) return QUIRE_UNSUPPORTED;
  const std::lock_guard guard(mutex_);
  if (stopping_) return QUIRE_NOT_STARTED;
  handler_ = handler;
  context_ = context;
  if (handler != nullptr && !thread_.joinable()) thread_ = os::start_thread([this] { run(); });
  bell_.fetch_add(1);
  os::futex_wake(bell_, 1);
  return {};
}

void failure_service::run() {
  ::pthread_setname_np(::pthread_self(), "quire-failure");
  for (;;) {
    const std::uint32_t seen = bell_.load();
    quire_failure_handler handler = nullptr;
    void* context = nullptr;
    {
      const std::lock_guard guard(mutex_);
      handler = handler_;
      context = context_;
    }
    if (stopping_) return;
    if (handler != nullptr && told_ < over_.load(std::memory_order_acquire)) {
      handler(order_[told_++], context);
      continue;
    }
    os::futex_wait(bell_, seen, -1);
  }
}

void failure_service::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  bell_.fetch_add(1);
  os::futex_wake(bell_, 1);
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    base::log(base::log_level::error,
              "quire_end() was called by a handler of quire_on_failure(), which must return before it");
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool failure_service::is_handler() {
  const std::lock_guard guard(mutex_);
  return thread_.joinable() && thread_.get_id() == std::this_thread::get_id();
}

void failure_service::go_on() {
  const std::lock_guard guard(mutex_);
  stopping_ = false;
  if (handler_ != nullptr && !thread_.joinable()) thread_ = os::start_thread([this] { run(); });
}

bool failure_service::is_alive(int node) const noexcept {
  const auto nodes = static_cast<int>(core_.config.nodes);
  if (node < 0 || node >= nodes) return false;
  return node >= static_cast<int>(model::membership::most_nodes) || (dead_.load() >> node & 1) == 0;
}

int failure_service::count_alive() const noexcept {
  return static_cast<int>(core_.config.nodes) - __builtin_popcountll(dead_.load());
}

}  // namespace quire::api

quire_status quire_on_failure(quire_failure_handler handler, void* context) {
  if (quire::api::elsewhere() != nullptr) return QUIRE_UNSUPPORTED;
  QUIRE_ENTER(r);
  return r->failures->set(handler, context).code();
}

int quire_alive(int node) {
  if (const auto* const there = quire::api::elsewhere()) return node >= 0 && node < there->both().nodes ? 1 : 0;
  const auto* const r = quire::api::current();
  if (r == nullptr) return node == 0 ? 1 : 0;
  return r->failures->is_alive(node) ? 1 : 0;
}

int quire_nodes_alive(void) {
  if (const auto* const there = quire::api::elsewhere()) return there->both().nodes;
  const auto* const r = quire::api::current();
  return r == nullptr ? 1 : r->failures->count_alive();
}
