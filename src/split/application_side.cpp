// SPDX-License-Identifier: BSD-3-Clause
#include "split/application_side.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.hpp"
#include "base/log.hpp"
#include "os/memory.hpp"
#include "os/own_thread.hpp"
#include "split/link.hpp"

namespace quire::split {
namespace {

/// The calling thread's mailbox. A signal handler that comes in the middle of a call takes another.
struct thread_part {
  mailbox* own = nullptr;
  bool busy = false;
};
thread_local constinit thread_part t_part __attribute__((tls_model("initial-exec")));

/// At a thread's end. In a child that the application has forked, mailboxes belong to others.
void give_back(void* own) noexcept {
  if (t_part.own != own) return;
  static_cast<mailbox*>(own)->claimed.store(false, std::memory_order_release);
  t_part = {};
}

/// A thread of Quire's in the application's process takes no signals: they are the application's.
std::thread quiet_thread(void (application_side::*body)() noexcept, application_side* self) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread t = os::start_thread([body, self] { (self->*body)(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return t;
}

int carry_out(const order& o) noexcept {
  auto* const at = reinterpret_cast<void*>(o.address);
  switch (o.what) {
    case order::kind::protect:
      return os::protect(at, o.bytes, o.argument);
    case order::kind::advise:
      return os::advise(at, o.bytes, o.argument);
    case order::kind::run:
      break;
  }
  return o.procedure(o.data.data());
}

}  // namespace

application_side::application_side(shared_range range, os::descriptor engine, os::descriptor lifeline)
    : range_(std::move(range)), engine_(std::move(engine)), lifeline_(std::move(lifeline)) {
  CHECK(::pthread_key_create(&at_thread_end_, give_back) == 0);
  CHECK(::pthread_atfork(nullptr, nullptr, [] { t_part = {}; }) == 0);
  helper_ = quiet_thread(&application_side::help, this);
  watcher_ = quiet_thread(&application_side::watch, this);
}

application_side::~application_side() {
  if (helper_.joinable()) end();
  ::pthread_key_delete(at_thread_end_);
  os::unmap(reinterpret_cast<void*>(range_.base), range_.bytes);
  for (auto& m : range_.both->mailboxes) {
    os::close_descriptor(m.sockets[0]);
    if (m.sockets[0] < 0) break;
  }
  os::unmap(range_.both, sizeof(board));
}

int application_side::wait_for_start() noexcept {
  range_.both->started.wait_until([](std::uint32_t v) { return v != 0; }, 0, -1, [] {});
  return range_.both->status;
}

mailbox& application_side::claim() noexcept {
  if (t_part.own != nullptr && !t_part.busy) return *t_part.own;
  const std::size_t most = range_.both->mailboxes[0].sockets[0] >= 0 ? board::most_sockets : board::most_threads;
  for (std::size_t i = 0; i < most; ++i) {
    mailbox& m = range_.both->mailboxes[i];
    if (m.claimed.load(std::memory_order_relaxed) || m.claimed.exchange(true, std::memory_order_acq_rel)) continue;
    if (t_part.own == nullptr) {
      t_part.own = &m;
      (void)::pthread_setspecific(at_thread_end_, &m);
    }
    if (!m.served.load(std::memory_order_acquire)) range_.both->unserved.ring();
    return m;
  }
  base::die(QUIRE_NO_MEMORY, "pool 'fork' serves at most %zu threads a node%s", most,
            most == board::most_sockets ? " over sockets; set QUIRE_POOL_LINK=ring" : "");
}

void application_side::call(procedure what, std::byte* arguments, std::size_t bytes, int thread) noexcept {
  const int saved = errno;
  mailbox& m = claim();
  const bool own = &m == t_part.own;
  if (own) t_part.busy = true;
  m.content.what = what;
  m.content.thread = thread;
  m.content.bytes = static_cast<std::uint32_t>(bytes);
  std::memcpy(m.content.arguments.data(), arguments, bytes);
  exchange(m, range_.both->spin_ns.load(std::memory_order_relaxed), [this] { (void)run_order(); });
  std::memcpy(arguments, m.content.arguments.data(), bytes);
  if (own) {
    t_part.busy = false;
  } else {
    m.claimed.store(false, std::memory_order_release);
  }
  errno = saved;
}

/// True if there was one, and this thread has carried it out.
bool application_side::run_order() noexcept {
  order& o = range_.both->orders;
  if (o.state.value() != order::posted || !o.state.change(order::posted, order::taken)) return false;
  o.result = carry_out(o);
  o.state.set(order::done);
  return true;
}

void application_side::help() noexcept {
  order& o = range_.both->orders;
  while (!range_.both->ending.load()) {
    o.state.wait_until(order::is_posted, range_.both->spin_ns.load(std::memory_order_relaxed), -1, [] {});
    if (!range_.both->ending.load()) (void)run_order();
  }
}

void application_side::watch() noexcept {
  pollfd entry{engine_.number(), POLLIN, 0};
  while (os::wait_ready({&entry, 1}, -1) == 0) continue;
  board& b = *range_.both;
  if (!b.ending.load()) end_with_engine(b);
}

void end_with_engine(const board& of) noexcept {
  if (const int status = of.exit_status.load(); status != 0) ::_exit(status);  // it has said why
  base::log(base::log_level::error, "the engine's process of this node was killed; this node ends");
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

void application_side::signal_engine(int number) noexcept {
  (void)::syscall(SYS_pidfd_send_signal, engine_.number(), number, nullptr, 0);
}

void application_side::end() noexcept {
  board& b = *range_.both;
  b.ending.store(true);
  b.unserved.ring();
  watcher_.join();
  b.orders.state.set(order::posted);  // none: the helper looks why it has been woken
  helper_.join();
}

}  // namespace quire::split
