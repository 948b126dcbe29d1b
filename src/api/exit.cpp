// SPDX-License-Identifier: BSD-3-Clause
#include "api/exit.hpp"

#include <pthread.h>
#include <quire/system.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "api/counters.hpp"
#include "runtime/forward.hpp"
#include "report/report.hpp"
#include "base/clock.hpp"
#include "core/configuration.hpp"
#include "core/host.hpp"
#include "core/services.hpp"
#include "core/watching.hpp"
#include "model/membership.hpp"
#include "region/services.hpp"
#include "transport/transport.hpp"

namespace quire::api {

using model::message;
using model::node_id;
using region::service;

namespace {

using base::ms;
constexpr std::uint64_t flush_ns = 1000 * ms;    ///< for stdio, whose locks a thread may hold for ever
constexpr std::uint64_t send_ns = 500 * ms;      ///< for the answer
constexpr std::uint64_t leave_ns = 3000 * ms;    ///< for a node that was told to end
constexpr std::uint64_t answers_ns = 4000 * ms;  ///< for all of them
constexpr std::uint64_t exit_ns = 8000 * ms;     ///< for the node that ends the job

/// Writes what stdio holds, unless a thread keeps its locks.
void flush_streams() noexcept {
  static std::atomic<bool> flushed{false};
  pthread_t thread;
  if (::pthread_create(
          &thread, nullptr,
          [](void*) -> void* {
            (void)std::fflush(nullptr);
            flushed.store(true);
            return nullptr;
          },
          nullptr) != 0) {
    return;
  }
  ::pthread_detach(thread);
  for (const std::uint64_t until = base::now_ns() + flush_ns; !flushed.load() && base::now_ns() < until;) ::usleep(200);
}

/// This node's end is no accident.
quire_status leave_job() {
  QUIRE_FORWARD(leave_job);
  QUIRE_ENTER(r);
  r->exits->answer();
  write_record(*r);
  r->job->leave(counters_json(*r));
  return QUIRE_OK;
}

quire_status end_others(int status) {
  QUIRE_FORWARD(end_others, status);
  QUIRE_ENTER(r);
  return r->exits->end_others(status) ? QUIRE_OK : QUIRE_EXISTS;
}

/// In the application's process, as thread_service::start() has it.
int start_leaving(const std::byte*) {
  pthread_t thread;
  const int error = ::pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        flush_streams();
        (void)leave_job();
        ::_exit(0);
      },
      nullptr);
  if (error == 0) ::pthread_detach(thread);
  return error;
}

}  // namespace

exit_service::exit_service(core::core& e, thread_service& threads)
    : core_(e), threads_(threads), ended_(e.config.nodes), tellers_(e.config.nodes) {
  e.services.set(
      static_cast<std::uint32_t>(service::exit),
      [](void* self, core::core&, const message& m, auto) noexcept { static_cast<exit_service*>(self)->on_told(m); },
      this, "quire_exit");
  e.services.set(
      static_cast<std::uint32_t>(service::exit_answer),
      [](void* self, core::core&, const message& m, auto) noexcept { static_cast<exit_service*>(self)->ends(m.from); },
      this, "quire_exit");
}

/// Driver's thread.
void exit_service::ends(node_id node) noexcept {
  if (std::exchange(ended_[node.value()], std::uint8_t{1}) == 0) answers_.fetch_add(1);
}

/// Driver's thread. Nodes that end the job at once all do so with their own status, and wait for no answers of each
/// other.
void exit_service::on_told(const message& m) noexcept {
  ends(m.from);
  if (exits_.load()) return core_.notify(m.from, static_cast<std::uint32_t>(service::exit_answer), 0, 0, 0, {});
  tellers_[m.from.value()] = 1;
  if (told_.exchange(true)) return;
  core_.ending.store(true);
  core_.watching.leave_by(core_.now() + leave_ns, 0);
  threads_.start(start_leaving, {});
}

void exit_service::answer() noexcept {
  if (!told_.load()) return;
  core_.as_driver([&] {
    for (std::size_t node = 0; node < tellers_.size(); ++node) {
      if (tellers_[node] != 0)
        core_.notify(node_id{static_cast<std::uint16_t>(node)}, static_cast<std::uint32_t>(service::exit_answer), 0, 0,
                     0, {});
    }
  });
  bool pending = true;
  for (const std::uint64_t until = core_.now() + send_ns; pending && core_.now() < until;) {
    core_.as_driver([&] { pending = core_.wire.sends_pending(); });
    if (pending) core_.host.pause(ms / 10);
  }
}

bool exit_service::end_others(int status) noexcept {
  if (exits_.exchange(true)) return false;
  core_.ending.store(true);
  const unsigned self = core_.config.self.value(), nodes = core_.config.nodes;
  unsigned alive = 0;
  core_.as_driver([&] {
    core_.watching.leave_by(core_.now() + exit_ns, status);  // whatever the launcher says of others meanwhile
    for (unsigned node = 0; node < nodes; ++node) {
      if (node == self || core_.members.is_dead(node_id{static_cast<std::uint16_t>(node)})) continue;
      ++alive;
      core_.notify(node_id{static_cast<std::uint16_t>(node)}, static_cast<std::uint32_t>(service::exit), 0, 0, 0, {});
    }
  });
  for (const std::uint64_t until = core_.now() + answers_ns; answers_.load() < alive && core_.now() < until;)
    core_.host.pause(ms / 5);
  return true;
}

}  // namespace quire::api

void quire_exit(int status) {
  static thread_local bool exits = false;  // a handler of a signal has called again: others have been told
  const bool again = std::exchange(exits, true);
  if (const quire_status why = again ? QUIRE_OK : quire::api::end_others(status); why == QUIRE_OK) {
    if (!again) quire::api::flush_streams();
    (void)quire::api::leave_job();
  } else if (why == QUIRE_EXISTS) {
    for (;;) ::pause();
  } else {
    quire::api::flush_streams();
  }
  ::_exit(status);
}
