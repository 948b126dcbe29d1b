// SPDX-License-Identifier: BSD-3-Clause
#include "services/node/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <array>
#include <cstring>

#include "base/detail.hpp"
#include "core/configuration.hpp"
#include "core/services.hpp"
#include "core/survival.hpp"
#include "os/own_thread.hpp"
#include "region/services.hpp"
#include "services/node/answering.hpp"
#include "split/engine_side.hpp"

namespace quire::api {

using model::message;
using region::service;

namespace {

constexpr std::size_t longest_module = thread_service::longest_module;
using thread_plan = thread_service::plan;

}  // namespace

thread_service::thread_service(core::core& e, procedure spawned) : core_(e), spawned_(spawned), here_(e.config.self) {
  e.services.set(
      static_cast<std::uint32_t>(service::spawn),
      [](void* self, core::core&, const message& m, auto v) noexcept {
        static_cast<thread_service*>(self)->on_spawn(m, v);
      },
      this, "quire_spawn");
  e.services.set(
      static_cast<std::uint32_t>(service::join),
      [](void* self, core::core&, const message& m, auto) noexcept { static_cast<thread_service*>(self)->on_join(m); },
      this, "quire_join");
  if (e.config.survives) {
    e.survival.on_deaths(
        [](void* self, unsigned node) noexcept {
          static_cast<thread_service*>(self)->here_.on_death(model::node_id{static_cast<std::uint16_t>(node)});
        },
        this, false);
  }
  if (split::engine_here() != nullptr) return;  // threads are of the other process
  starter_ = os::start_server([this] { start_threads(); });
}

thread_service::~thread_service() {
  if (!starter_.joinable()) return;
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  starter_.join();
}

base::status thread_service::spawn(int node, std::string_view module, std::uint64_t offset, std::uint64_t argument,
                                   std::uint64_t& id) {
  if (node < 0 || node >= static_cast<int>(core_.config.nodes))
    return base::explain(QUIRE_INVALID, "quire_spawn(): there is no node %d; the job has %u nodes", node,
                         core_.config.nodes);
  message m;
  m.a = offset;
  m.b = argument;
  const auto why =
      core_.ask(model::node_id{static_cast<std::uint16_t>(node)}, static_cast<std::uint32_t>(service::spawn), m,
                std::as_bytes(std::span(module.data(), module.size())));
  if (why.ok()) id = m.a;
  return why;
}

base::status thread_service::join(std::uint64_t id, std::uint64_t& result) {
  const auto node = static_cast<std::uint16_t>(services::threads::node_of(id));
  if (id == 0 || node >= core_.config.nodes)
    return base::explain(QUIRE_INVALID, "quire_join(): 0x%lx is no handle that quire_spawn() has given",
                         static_cast<unsigned long>(id));
  message m;
  m.a = id;
  const auto why = core_.ask(model::node_id{node}, static_cast<std::uint32_t>(service::join), m, {});
  if (why.ok()) result = m.a;
  return why;
}

void own_visit::wait_for_all() noexcept {
  while (under_way_.load() != 0) ::sched_yield();
}

/// Runs `f` on the driver and waits for it.
template <class F>
void thread_service::on_driver(F f) noexcept {
  struct function_op : core::op {
    explicit function_op(F& f) noexcept
        : op(
              [](core::core&, core::op& self) noexcept {
                static_cast<function_op&>(self).f_();
                self.complete();
              },
              type::call),
          f_(f) {}
    F& f_;
  } o(f);
  (void)core_.run(o);
}

/// Driver's thread.
void thread_service::on_spawn(const message& m, std::span<const std::byte> value) {
  if (closed_) return core_.answer(m, QUIRE_LOST);
  ++begin_;
  thread_plan plan{m, static_cast<std::uint32_t>(std::min(value.size(), longest_module)), {}};
  std::memcpy(plan.module.data(), value.data(), plan.length);
  start(spawned_, plan);
}

void thread_service::start(procedure begins, const plan& what) {
  if (auto* const split = split::engine_here(); split != nullptr) {
    if (split->run_there(begins, std::as_bytes(std::span(&what, 1))) != 0) refuse(what);
    return;
  }
  {
    const std::lock_guard guard(mutex_);
    orders_.push_back({begins, what});
  }
  wake_.notify_one();
}

void thread_service::refuse(const plan& what) noexcept {
  if (what.request.kind != model::message_kind::service_request) return;
  if (what.request.operation == static_cast<std::uint32_t>(service::spawn)) --begin_;
  core_.answer(what.request, QUIRE_NO_MEMORY);
}

void thread_service::start_threads() noexcept {
  ::pthread_setname_np(::pthread_self(), "quire-starter");
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !orders_.empty(); });
    if (orders_.empty()) return;
    const order next = orders_.front();
    orders_.pop_front();
    lock.unlock();
    if (next.begins(reinterpret_cast<const std::byte*>(&next.what)) != 0) on_driver([&] { refuse(next.what); });
  }
}

std::uint64_t thread_service::started(const message& request, bool found) noexcept {
  std::uint64_t id = 0;
  on_driver([&] {
    services::answers out;
    --begin_;
    id = here_.on_started(request, found ? QUIRE_OK : QUIRE_NOT_FOUND, out);
    send(core_, out);
  });
  return id;
}

void thread_service::finished(std::uint64_t id, std::uint64_t result) noexcept {
  on_driver([&] {
    services::answers out;
    here_.on_finished(id, result, out);
    send(core_, out);
  });
}

void thread_service::on_join(const message& m) {
  services::answers out;
  here_.on_join(m, out);
  send(core_, out);
}

}  // namespace quire::api
