// SPDX-License-Identifier: BSD-3-Clause
#include "api/threads.hpp"

#include <pthread.h>
#include <quire/transaction.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <array>
#include <cstring>
#include <memory>

#include "api/answering.hpp"
#include "api/forward.hpp"
#include "api/function_place.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/services.hpp"
#include "core/survival.hpp"
#include "os/injection.hpp"
#include "os/limits.hpp"
#include "os/own_thread.hpp"
#include "region/services.hpp"
#include "split/engine_side.hpp"

namespace quire::api {

using model::message;
using region::service;

namespace {

constexpr std::size_t longest_module = thread_service::longest_module;
using thread_plan = thread_service::plan;

}  // namespace

thread_service::thread_service(core::core& e) : core_(e), here_(e.config.self) {
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

namespace {

quire_status say_started(message request, int found, std::uint64_t* id) {
  QUIRE_FORWARD(say_started, request, found, id);
  const own_visit visit;  // of the process that the node runs in, as well as of the one that the thread is of
  QUIRE_ENTER(r);
  *id = r->threads->started(request, found != 0);
  return QUIRE_OK;
}

quire_status say_finished(std::uint64_t id, std::uint64_t result) {
  QUIRE_FORWARD(say_finished, id, result);
  const own_visit visit;
  QUIRE_ENTER(r);
  r->threads->finished(id, result);
  return QUIRE_OK;
}

/// The new thread looks its function up itself: the dynamic linker's lock must not be waited for by the driver.
void* body(void* argument) noexcept {
  const std::unique_ptr<thread_plan> plan(static_cast<thread_plan*>(argument));
  const std::uint64_t function = function_at(std::string_view(plan->module.data(), plan->length), plan->request.a);
  std::uint64_t id = 0;
  {
    const own_visit visit;
    if (say_started(plan->request, function != 0 ? 1 : 0, &id) != QUIRE_OK || id == 0) return nullptr;
  }
  void* const result = reinterpret_cast<void* (*)(void*)>(function)(reinterpret_cast<void*>(plan->request.b));
  const own_visit visit;
  (void)say_finished(id, reinterpret_cast<std::uint64_t>(result));
  (void)os::injected(os::call::thread_finished);
  return nullptr;
}

/// In the application's process. 0 or errno.
int start_thread(const std::byte* data) {
  auto plan = std::make_unique<thread_plan>();
  std::memcpy(plan.get(), data, sizeof *plan);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  // The thread starts with an empty signal mask of its own: the driver may be in a fault handler.
  sigset_t none;
  sigemptyset(&none);
  ::pthread_attr_setsigmask_np(&attributes, &none);
  const int error = ::pthread_create(&thread, &attributes, body, plan.get());
  ::pthread_attr_destroy(&attributes);
  if (error == 0) {
    (void)plan.release();
  } else if (static std::atomic<bool> told; !told.exchange(true)) {
    base::log(base::log_level::warning, "no thread can be started here that another node asks for: %s%s",
              std::strerror(error), os::explain_error(error).text);
  }
  return error;
}

}  // namespace

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
  thread_plan plan{m, static_cast<std::uint32_t>(std::min(value.size(), longest_module)), {}};
  std::memcpy(plan.module.data(), value.data(), plan.length);
  start(start_thread, plan);
}

void thread_service::start(int (*procedure)(const std::byte*), const plan& what) {
  if (auto* const split = split::engine_here(); split != nullptr) {
    if (split->run_there(procedure, std::as_bytes(std::span(&what, 1))) != 0) refuse(what);
    return;
  }
  {
    const std::lock_guard guard(mutex_);
    orders_.push_back({procedure, what});
  }
  wake_.notify_one();
}

void thread_service::refuse(const plan& what) noexcept {
  if (what.request.kind == model::message_kind::service_request) core_.answer(what.request, QUIRE_NO_MEMORY);
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
    if (next.procedure(reinterpret_cast<const std::byte*>(&next.what)) != 0) on_driver([&] { refuse(next.what); });
  }
}

std::uint64_t thread_service::started(const message& request, bool found) noexcept {
  std::uint64_t id = 0;
  on_driver([&] {
    services::answers out;
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

namespace {

quire_status spawn_at(int node, const char* module, std::uint64_t offset, void* argument, std::uint64_t* id) {
  QUIRE_FORWARD(spawn_at, node, module, offset, argument, id);
  QUIRE_ENTER(r);
  return r->threads->spawn(node, module, offset, reinterpret_cast<std::uint64_t>(argument), *id).code();
}

}  // namespace

quire_status quire_spawn(int node, void* (*function)(void*), void* argument, quire_remote_thread* thread) {
  QUIRE_STARTED();
  if (thread == nullptr || function == nullptr)
    return quire::base::explain(QUIRE_INVALID, "quire_spawn(): the %s is NULL",
                                function == nullptr ? "function" : "place for the thread");
  const auto address = reinterpret_cast<std::uint64_t>(function);
  const auto place = quire::api::place_of(address);
  if (!place || place->module.size() > quire::api::longest_module)
    return quire::base::explain(QUIRE_INVALID,
                                "quire_spawn(): 0x%lx is no function of the program or of a library that it has loaded",
                                static_cast<unsigned long>(address));
  if (quire_in_transaction() != 0) (void)!quire_transaction_irrevocable();  // a thread that runs cannot be undone
  std::uint64_t id = 0;
  const quire_status why = spawn_at(node, place->module.c_str(), place->offset, argument, &id);
  if (why == QUIRE_OK) thread->id = id;
  return why;
}

quire_status quire_join(quire_remote_thread thread, void** result) {
  QUIRE_FORWARD(quire_join, thread, result);
  QUIRE_ENTER(r);
  if (quire_in_transaction() != 0)
    return quire::base::explain(QUIRE_INVALID,
                                "quire_join(): not within a transaction, which may begin again, and holds others up");
  std::uint64_t value = 0;
  const auto why = r->threads->join(thread.id, value);
  if (why.ok() && result != nullptr) *result = reinterpret_cast<void*>(value);
  return why.code();
}
