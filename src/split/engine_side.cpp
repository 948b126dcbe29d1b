// SPDX-License-Identifier: BSD-3-Clause
#include "split/engine_side.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/check.hpp"
#include "base/log.hpp"
#include "os/own_thread.hpp"
#include "split/link.hpp"

namespace quire::split {
namespace {

engine_side* g_here = nullptr;
board* g_board = nullptr;
thread_local int t_served = -1;

void run(request& r) {
  t_served = r.thread;
  r.what(r.arguments.data());
}

}  // namespace

engine_side* engine_here() noexcept { return g_here; }
void set_engine_here(engine_side* side) noexcept { g_here = side; }
int thread_served() noexcept { return t_served; }

engine_side::engine_side(shared_range range, pid_t application_pid, os::descriptor application, os::descriptor lifeline)
    : range_(std::move(range)),
      application_pid_(application_pid),
      application_(std::move(application)),
      lifeline_(std::move(lifeline)) {
  g_board = range_.both;
  base::log_set_last_words([](int exit_code) noexcept { g_board->exit_status.store(exit_code); });
  os::start_thread([this] { watch(); }).detach();
}

/// Fault path: `fill` is called in place, without a heap.
template <class Fill>
int engine_side::carry_out_there(Fill&& fill) noexcept {
  while (ordering_.exchange(true, std::memory_order_acquire)) base::cpu_relax();
  order& o = range_.both->orders;
  fill(o);
  o.state.set(order::posted);
  const std::uint64_t spin_ns = range_.both->spin_ns.load(std::memory_order_relaxed);
  constexpr std::int64_t look_ns = 50'000'000;
  while (!o.state.wait_until(order::is_done, spin_ns, look_ns, [] {})) {
    if (!gone_.load()) continue;
    o.result = 0;  // nobody is left to whom it would matter
    break;
  }
  const int result = o.result;
  ordering_.store(false, std::memory_order_release);
  return result;
}

int engine_side::give(order::kind what, const void* address, std::uint64_t bytes, int argument) noexcept {
  return carry_out_there([&](order& o) {
    o.what = what;
    o.address = reinterpret_cast<std::uint64_t>(address);
    o.bytes = bytes;
    o.argument = argument;
  });
}

int engine_side::protect(void* address, std::size_t bytes, int prot) noexcept {
  return give(order::kind::protect, address, bytes, prot);
}
int engine_side::advise(void* address, std::uint64_t bytes, int advice) noexcept {
  return give(order::kind::advise, address, bytes, advice);
}

int engine_side::run_there(int (*procedure)(const std::byte*), std::span<const std::byte> data) noexcept {
  CHECK(data.size() <= sizeof(order::data));
  return carry_out_there([&](order& o) {
    o.what = order::kind::run;
    o.procedure = procedure;
    std::memcpy(o.data.data(), data.data(), data.size());
  });
}

int engine_side::open_userfault(os::userfault_mode mode) noexcept {
  // Not built: the engine would need a pagemap that the application has opened.
  if (mode == os::userfault_mode::inline_scan) return -EOPNOTSUPP;
  const auto& mine = range_.userfault[static_cast<std::size_t>(mode)];
  if (!mine.open()) return range_.userfault_errors[static_cast<std::size_t>(mode)];
  const int copy = ::fcntl(mine.number(), F_DUPFD_CLOEXEC, 0);
  return copy >= 0 ? copy : -errno;
}

void engine_side::report(int status, int node, int nodes, std::uint64_t spin_ns, bool kernel_waits) noexcept {
  board& b = *range_.both;
  b.status = status;
  b.node = node;
  b.nodes = nodes;
  b.spin_ns.store(spin_ns);
  b.kernel_waits.store(kernel_waits);
  b.started.set(1);
}

bool engine_side::application_stopped() const noexcept { return os::is_stopped(application_pid_); }

void engine_side::serve(std::function<void()> crashed) {
  crashed_ = std::move(crashed);
  serving_.store(true, std::memory_order_release);
  board& b = *range_.both;
  while (!b.ending.load()) {
    const std::uint32_t seen = b.unserved.value();
    for (auto& m : b.mailboxes) {
      if (!m.claimed.load(std::memory_order_acquire) || m.served.load(std::memory_order_relaxed)) continue;
      m.served.store(true, std::memory_order_release);
      os::start_thread([this, &m] {
        for (;;) serve_one(m, range_.both->spin_ns.load(std::memory_order_relaxed), run);
      }).detach();
    }
    b.unserved.wait_until([seen](std::uint32_t v) { return v != seen; }, 0, -1, [] {});
  }
  ::_exit(0);
}

/// The application may end at any time, before the start has come to its end too.
void engine_side::watch() noexcept {
  pollfd entries[] = {{application_.number(), POLLIN, 0}, {lifeline_.number(), POLLIN, 0}};
  while (os::wait_ready(entries, -1) == 0) continue;
  gone_.store(true);
  if (!range_.both->ending.load() && serving_.load(std::memory_order_acquire)) crashed_();
  ::_exit(1);
}

}  // namespace quire::split
