// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/peers.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"

namespace quire::bootstrap {
namespace {

bool watch(int epoll, int number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = number;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event) == 0;
}

}  // namespace

process_identity identity_of_this_process() {
  struct stat about {};
  if (::stat("/proc/self/ns/pid", &about) != 0) return {};
  return {about.st_ino, ::getpid()};
}

base::status peer_watch::open(int epoll) {
  timer_ = os::descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  return timer_.open() && watch(epoll, timer_.number()) ? QUIRE_OK : QUIRE_SYSTEM;
}

void peer_watch::add(int epoll, int node, const process_identity& who) {
  const auto here = identity_of_this_process();
  if (who.pid_namespace == 0 || who.pid_namespace != here.pid_namespace || who.pid == here.pid) {
    unseen_ = true;
    return;
  }
  os::descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(who.pid), 0)));
  if (process.open() && os::set_close_on_exec(process.number(), true).ok() && watch(epoll, process.number()))
    watched_.push_back({node, std::move(process)});
  else if (!process.open() && errno == ESRCH)
    note_ended(node);
  else
    unseen_ = true;
}

bool peer_watch::add_launcher(int epoll) {
  const pid_t parent = ::getppid();
  if (parent == 0) return true;  // in another PID namespace
  launcher_ = os::descriptor(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
  return launcher_.open() && os::set_close_on_exec(launcher_.number(), true).ok() && watch(epoll, launcher_.number());
}

bool peer_watch::launcher_has_ended() const noexcept {
  pollfd entry{launcher_.number(), POLLIN, 0};
  return launcher_.open() && ::poll(&entry, 1, 0) == 1;
}

void peer_watch::kill(int node) noexcept {
  for (const peer& p : watched_) {
    if (p.node == node) ::syscall(SYS_pidfd_send_signal, p.process.number(), SIGKILL, nullptr, 0);
  }
}

int peer_watch::next_dead() {
  for (auto it = watched_.begin(); it != watched_.end();) {
    pollfd entry{it->process.number(), POLLIN, 0};
    if (::poll(&entry, 1, 0) != 1) {
      ++it;
      continue;
    }
    note_ended(it->node);
    it = watched_.erase(it);  // closing it takes it out of the epoll set
  }
  if (ended_.empty()) return -1;
  if (base::now_ns() < ended_.front().told_from_ns) {
    arm_timer();
    return -1;
  }
  const int node = ended_.front().node;
  ended_.pop_front();
  arm_timer();
  return node;
}

void peer_watch::note_ended(int node) {
  ended_.push_back({node, base::now_ns() + grace_ns});
  arm_timer();
}

/// Also makes the descriptor quiet, if it was readable.
void peer_watch::arm_timer() {
  itimerspec when{};
  if (!ended_.empty()) {
    const std::uint64_t at = ended_.front().told_from_ns;
    when.it_value.tv_sec = static_cast<time_t>(at / 1'000'000'000);
    when.it_value.tv_nsec = static_cast<long>(at % 1'000'000'000);
  }
  ::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace quire::bootstrap
