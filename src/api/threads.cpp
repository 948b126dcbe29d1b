// SPDX-License-Identifier: BSD-3-Clause
// Threads that other nodes ask for (quire_spawn, quire_join): services/node/threads.hpp has what nodes say.
#include <pthread.h>
#include <quire/transaction.h>

#include <cstring>
#include <memory>

#include "api/function_place.hpp"
#include "api/orders.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "os/injection.hpp"
#include "os/limits.hpp"
#include "runtime/forward.hpp"
#include "runtime/runtime.hpp"
#include "services/node/threads.hpp"

namespace quire::api {

using model::message;
using thread_plan = thread_service::plan;
constexpr std::size_t longest_module = thread_service::longest_module;

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

}  // namespace

int start_spawned_thread(const std::byte* data) { return start_thread(data, body); }

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
