// SPDX-License-Identifier: BSD-3-Clause
// Nodes on other hosts: the launcher's end of the links to its agents (agent.hpp). What an agent tells becomes what the
// job's loop knows of its own children, so that fate.cpp judges both alike.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/options.hpp"
#include "bootstrap/launcher/agent.hpp"
#include "bootstrap/launcher/job.hpp"

namespace quire::bootstrap::launcher {
namespace {

using local::frame_kind;

using base::second;
constexpr std::uint64_t kill_limit_ns = 5 * second;  // with an agent that was told to kill its nodes

/// Whether reading standard input cannot stop us, as it would in the background of a terminal.
bool may_read_input() { return ::isatty(0) == 0 || ::tcgetpgrp(0) == ::getpgrp(); }

}  // namespace

void job::watch_hosts(const std::function<void(int, short, std::function<void()>)>& watch) {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    auto& link = hosts_[host].link;
    if (link.descriptor() < 0 || link.ended()) continue;
    const short events = link.sending() ? POLLIN | POLLOUT : POLLIN;
    watch(link.descriptor(), events, [this, host] { on_link(host); });
  }
  if (input_open_ && may_read_input()) watch(0, POLLIN, [this] { on_input(); });
}

void job::on_link(std::size_t host) {
  auto& link = hosts_[host].link;
  link.send();
  link.receive();
  while (const auto frame = link.next()) on_link_frame(host, *frame);
  if (link.broken() || link.ended()) {
    // Its process ends by itself now, and tells why by its status.
    link.close();
    if (hosts_[host].alive && link.broken()) ::kill(hosts_[host].pid, SIGTERM);
  }
}

void job::on_link_frame(std::size_t host, const local::frame& frame) {
  hosts_[host].life.heard(1);
  on_answer(host);
  if (frame.kind == frame_kind::alive) return;
  const auto& where = plan_.hosts[host];
  if (frame.kind == frame_kind::cannot) return on_cannot(host, frame);
  if (frame.node < where.first || frame.node >= where.first + where.nodes) return;
  auto& record = at(frame.node);
  switch (frame.kind) {
    case frame_kind::started:
      record.remote_pid = local::int_of(frame.payload);
      if (std::all_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.remote_pid != 0; })) start_ns_ = 0;
      return;
    case frame_kind::output:
      hosts_[host].owed_bytes += frame.payload.size();
      return record.remote_out.add(frame.payload, out_);
    case frame_kind::error_output:
      hosts_[host].owed_bytes += frame.payload.size();
      return record.remote_err.add(frame.payload, err_);
    case frame_kind::closed:
      if (record.joined && !record.left && record.silent_ns == 0) record.silent_ns = base::now_ns();
      return;
    case frame_kind::ended:
      if (record.alive) on_exit(frame.node, local::int_of(frame.payload));
      return;
    case frame_kind::stopped:
      return stops_.saw(frame.node, local::int_of(frame.payload) != 0);
    case frame_kind::input_taken:
      input_open_ = true;
      return;
    default:
      return on_frame(frame.node, frame);
  }
}

/// Nothing runs on that host.
void job::on_cannot(std::size_t host, const local::frame& frame) {
  const auto& where = plan_.hosts[host];
  for (int node = where.first; node < where.first + where.nodes; ++node)
    if (std::exchange(at(node).alive, false)) --alive_;
  end(frame.node, frame_kind::job_ends, -1, "host " + where.name + ": " + frame.payload);
}

void job::on_host_exit(std::size_t host, int wait_status) {
  hosts_[host].alive = false;
  on_link(host);  // what was said before
  const auto& where = plan_.hosts[host];
  int lost = 0;
  bool started = true;
  std::vector<int> dead;
  for (int node = where.first; node < where.first + where.nodes; ++node) {
    if (!std::exchange(at(node).alive, false)) continue;
    ++lost;
    --alive_;
    if (!at(node).left) dead.push_back(node);
    started = started && at(node).remote_pid != 0;
  }
  if (lost == 0) return;
  const std::string how = WIFSIGNALED(wait_status) ? "was killed by signal " + os::signal_text(WTERMSIG(wait_status))
                                                   : "ended with status " + std::to_string(WEXITSTATUS(wait_status));
  const std::string reach = plan_.reach[0] + " to host " + where.name + " " + how;
  if (phase_ == phase::running && can_go_on()) {
    // The agent ends its nodes when it hears nothing of us, and nobody takes anything from them any more.
    const std::string& why = hosts_[host].why;
    for (const int node : dead)
      announce(node, name_of(node) + " is lost: " + (why.empty() ? "the connection is lost: " + reach : why),
               launcher_failed);
  } else if (started) {
    end(launcher_failed, frame_kind::node_died, where.first, "the connection to its nodes is lost: " + reach);
  } else {
    end(launcher_failed, frame_kind::job_ends, -1,
        "cannot start nodes on host " + where.name + ": " + reach + "; " + how_to_try(host));
  }
}

/// A piece at a time: the next is read when the agent has passed this one on.
void job::on_input() {
  std::array<char, 16384> buffer;
  const auto bytes = ::read(0, buffer.data(), buffer.size());
  if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return;
  input_open_ = false;
  const std::string_view piece(buffer.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  auto& link = hosts_[static_cast<std::size_t>(at(0).host)].link;
  link.queue(local::make_frame(frame_kind::input, 0, piece));
  link.send();
}

/// An encoded frame for a node, wherever it is.
void job::give(int node, const std::shared_ptr<const std::string>& bytes) {
  auto& record = at(node);
  auto& channel = record.host < 0 ? record.control : hosts_[static_cast<std::size_t>(record.host)].link;
  channel.queue(record.host < 0 ? bytes : local::make_frame(frame_kind::to_node, node, *bytes));
  channel.send();
}

void job::signal_hosts(int signal) {
  const auto frame = local::make_frame(frame_kind::signal, -1, {reinterpret_cast<const char*>(&signal), sizeof signal});
  for (auto& host : hosts_) {
    if (!host.alive) continue;
    host.link.queue(frame);
    host.link.send();
    if (!host.answered && (signal == SIGTERM || signal == SIGKILL)) ::kill(host.pid, signal);
  }
}

/// While our own reader is slow, agents are not told that their output was taken; they then slow their nodes down. All
/// else that they have to say goes on.
void job::acknowledge_output() {
  if (out_.full() || err_.full()) return;
  for (auto& host : hosts_) {
    if (host.owed_bytes < output_window_bytes / 4) continue;
    const std::uint64_t bytes = std::exchange(host.owed_bytes, 0);
    host.link.queue(
        local::make_frame(frame_kind::output_taken, -1, {reinterpret_cast<const char*>(&bytes), sizeof bytes}));
    host.link.send();
  }
}

/// Agents that do not answer although their nodes should be dead by now.
void job::lose_silent_hosts() {
  const std::uint64_t now = base::now_ns();
  if (phase_ != phase::killing) return;
  if (lost_ns_ == 0) lost_ns_ = now + kill_limit_ns;
  if (now < lost_ns_) return;
  for (auto& host : hosts_)
    if (host.alive) ::kill(host.pid, SIGKILL);
}

/// The agents end with their nodes, when they have swept up what these have left.
void job::finish_hosts() {
  const std::uint64_t deadline = base::now_ns() + kill_limit_ns;
  for (;;) {
    std::vector<pollfd> open;
    for (auto& host : hosts_) {
      host.link.send();
      host.link.receive();
      if (host.link.descriptor() >= 0 && !host.link.ended()) open.push_back({host.link.descriptor(), POLLIN, 0});
    }
    const std::uint64_t now = base::now_ns();
    if (open.empty() || now >= deadline) break;
    os::wait_ready(open, static_cast<int>((deadline - now) / 1'000'000) + 1);
  }
  for (auto& host : hosts_) host.link.close();
}

}  // namespace quire::bootstrap::launcher
