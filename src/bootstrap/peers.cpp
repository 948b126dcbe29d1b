// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/peers.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "bootstrap/secret.hpp"
#include "os/machine.hpp"

namespace quire::bootstrap {
namespace {

constexpr std::uint64_t last_words_ns = 200 * base::ms;
constexpr int most_last_words = 50;

bool watch(int epoll, int number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = number;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event) == 0;
}

}  // namespace

process_identity identity_of_this_process() {
  const auto here = os::machine_of_process();
  return {here.machine, here.network, here.pid, ::getpid()};
}

base::status peer_watch::open(int epoll) {
  epoll_ = epoll;
  timer_ = os::descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  return timer_.open() && watch(epoll, timer_.number()) ? QUIRE_OK : QUIRE_SYSTEM;
}

bool peer_watch::knows(int node) const noexcept {
  return std::any_of(watched_.begin(), watched_.end(), [&](const peer& one) { return one.node == node; }) ||
         std::any_of(ended_.begin(), ended_.end(), [&](const ended_peer& one) { return one.node == node; });
}

void peer_watch::add(int node, const process_identity& who) {
  if (knows(node) || !identity_of_this_process().sees(who)) return;
  os::descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(who.pid), 0)));
  if (process.open() && os::set_close_on_exec(process.number(), true).ok() && watch(epoll_, process.number()))
    watched_.push_back({node, std::move(process)});
  else if (!process.open() && errno == ESRCH)
    note_ended(node);
}

/// Each tells whom it does not see; where one of two does not see the other, there is a line.
bool peer_watch::reach_others(bootstrap& job) {
  std::vector<std::byte> unseen(static_cast<std::size_t>(job.nodes()));
  for (int node = 0; node < job.nodes(); ++node)
    unseen[static_cast<std::size_t>(node)] = std::byte{node != job.node() && !knows(node)};
  const auto told = job.exchange(unseen);
  if (!told.ok()) return false;
  bool any = false;
  std::vector<int> wanted;
  for (std::size_t node = 0; node < unseen.size(); ++node) {
    const auto& theirs = told.value()[node];
    if (theirs.size() != unseen.size()) return false;
    any |= std::any_of(theirs.begin(), theirs.end(), [](std::byte one) { return one != std::byte{}; });
    if ((unseen[node] | theirs[static_cast<std::size_t>(job.node())]) != std::byte{})
      wanted.push_back(static_cast<int>(node));
  }
  return !any || make_lines(job, wanted);
}

/// All nodes have them, or none goes on.
bool peer_watch::make_lines(bootstrap& job, const std::vector<int>& nodes) {
  std::string why;
  const auto secret = agree_on_secret(job);
  if (!secret.ok()) return false;
  auto made = lines_.open(job.node(), secret.value(), why);
  const auto addresses = job.exchange(made.ok() ? lines_.address() : std::vector<std::byte>{});
  if (!addresses.ok()) return false;
  if (made.ok()) made = lines_.reach(nodes, addresses.value(), why);
  if (!made.ok()) base::log(base::log_level::error, "lines between hosts: %s", why.c_str());
  const std::byte mine{made.ok()};
  const auto verdicts = job.exchange({&mine, 1});
  if (!verdicts.ok() || std::any_of(verdicts.value().begin(), verdicts.value().end(),
                                    [](const auto& one) { return one.size() != 1 || one[0] != std::byte{1}; }))
    return false;
  for (const int node : nodes) {
    if (!watch(epoll_, lines_.descriptor(node))) return false;
    std::erase_if(watched_, [&](const peer& one) { return one.node == node; });  // which does not see this node
    watched_.push_back({node, {}});
  }
  return true;
}

bool peer_watch::add_launcher() {
  const pid_t parent = ::getppid();
  if (parent == 0) return true;  // in another PID namespace
  launcher_ = os::descriptor(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
  return launcher_.open() && os::set_close_on_exec(launcher_.number(), true).ok() && watch(epoll_, launcher_.number());
}

bool peer_watch::launcher_has_ended() const noexcept {
  pollfd entry{launcher_.number(), POLLIN, 0};
  return launcher_.open() && ::poll(&entry, 1, 0) == 1;
}

void peer_watch::kill(int node) noexcept {
  for (const peer& one : watched_) {
    if (one.node != node) continue;
    if (one.process.open()) {
      ::syscall(SYS_pidfd_send_signal, one.process.number(), SIGKILL, nullptr, 0);
    } else if (lines_.kill(node)) {
      dying_.push_back({node, most_last_words, base::now_ns() + last_words_ns});
      arm_timer();
    }
  }
}

void peer_watch::say_last_words() {
  const std::uint64_t now = base::now_ns();
  for (last_words& one : dying_) {
    if (now < one.next_ns) continue;
    one = {one.node, lines_.kill(one.node) ? one.left - 1 : 0, now + last_words_ns};
  }
  std::erase_if(dying_, [](const last_words& one) { return one.left == 0; });
}

bool peer_watch::look(const peer& one) {
  if (one.process.open()) {
    pollfd entry{one.process.number(), POLLIN, 0};
    if (::poll(&entry, 1, 0) != 1) return false;
    note_ended(one.node);
    return true;
  }
  const auto now = lines_.state_of(one.node);
  if (now == life_lines::state::whole) return false;
  lines_.drop(one.node);  // closing it takes it out of the epoll set, as it does with a process
  if (now == life_lines::state::ended)
    note_ended(one.node);
  else
    base::log(base::log_level::warning,
              "the host of node %d cannot be reached: nobody here can tell whether that node is dead", one.node);
  return true;
}

int peer_watch::next_dead() {
  std::erase_if(watched_, [this](const peer& one) { return look(one); });
  say_last_words();
  int node = -1;
  if (!ended_.empty() && base::now_ns() >= ended_.front().told_from_ns) {
    node = ended_.front().node;
    ended_.pop_front();
  }
  arm_timer();
  return node;
}

void peer_watch::note_ended(int node) {
  ended_.push_back({node, base::now_ns() + grace_ns});
  arm_timer();
}

/// Also makes the descriptor quiet, if it was readable.
void peer_watch::arm_timer() {
  std::uint64_t at = ended_.empty() ? 0 : ended_.front().told_from_ns;
  for (const last_words& one : dying_) at = at == 0 ? one.next_ns : std::min(at, one.next_ns);
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(at / base::second);
  when.it_value.tv_nsec = static_cast<long>(at % base::second);
  ::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace quire::bootstrap
