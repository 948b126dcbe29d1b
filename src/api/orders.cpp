// SPDX-License-Identifier: BSD-3-Clause
#include "api/orders.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "base/log.hpp"
#include "code/service/service.hpp"
#include "container/service/service.hpp"
#include "os/limits.hpp"
#include "runtime/runtime.hpp"
#include "services/node/threads.hpp"

namespace quire::api {

using plan_of_thread = thread_service::plan;

int start_thread(const std::byte* data, void* (*body)(void*)) noexcept {
  std::unique_ptr<plan_of_thread> plan(new (std::nothrow) plan_of_thread);
  if (plan == nullptr) return ENOMEM;
  std::memcpy(plan.get(), data, sizeof *plan);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t none;
  sigemptyset(&none);
  ::pthread_attr_setsigmask_np(&attributes, &none);
  pthread_t thread;
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

namespace {

/// carry_out() of a service, unless the job is at its end.
template <class Service, std::unique_ptr<Service> runtime::*which>
void* carry_out(void* argument) {
  const std::unique_ptr<plan_of_thread> plan(static_cast<plan_of_thread*>(argument));
  const own_visit visit;
  if (runtime* const r = current(); r != nullptr) (r->*which)->carry_out(plan->request);
  return nullptr;
}

}  // namespace

int start_code_order(const std::byte* plan) { return start_thread(plan, carry_out<code_service, &runtime::code>); }

int start_container_order(const std::byte* plan) {
  return start_thread(plan, carry_out<container_service, &runtime::containers>);
}

}  // namespace quire::api
