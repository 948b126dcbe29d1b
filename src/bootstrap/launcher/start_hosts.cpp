// SPDX-License-Identifier: BSD-3-Clause
// The start of nodes on other hosts: some connections at a time, and no node before every host has answered. Steps of
// the job's loop; remote.cpp has what follows.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.hpp"
#include "base/options.hpp"
#include "bootstrap/launcher/agent.hpp"
#include "bootstrap/launcher/job.hpp"

namespace quire::bootstrap::launcher {
namespace {

using local::frame_kind;

using base::second;
/// As long as no host answers and no node starts.
constexpr std::uint64_t start_limit_ns = 60 * second;
/// Connections that are being made at a time: each costs processor time on both sides, and an sshd refuses many at
/// once.
constexpr std::size_t most_at_once = 32;
constexpr std::uint64_t progress_ns = 2 * second;

/// In single quotes, for the shell that ssh runs there.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

bool job::start_hosts(start_of_job& start) {
  start_ = &start;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    const auto& where = plan_.hosts[host];
    for (int node = where.first; node < where.first + where.nodes; ++node) {
      at(node).host = static_cast<int>(host);
      at(node).alive = true;
      if (plan_.tag) at(node).remote_out = at(node).remote_err = line_tagger(node);
      ++alive_;
    }
  }
  auto report = os::make_pipe();
  if (!report.ok()) return cannot("make a pipe", errno);
  start.report = report.value().second.number();
  progress_ns_ = base::now_ns() + progress_ns;
  reach_hosts();
  start.report = -1;  // what could be run once can be run again
  report.value().second.reset();
  start_failure failure;
  if (::read(report.value().first.number(), &failure, sizeof failure) != sizeof failure) return true;
  return cannot("run " + plan_.reach[0] + ", which should reach the hosts", failure.error);
}

/// Goes on to more hosts as those before them answer.
void job::reach_hosts() {
  if (begun_hosts_ == hosts_.size()) return;
  if (phase_ != phase::running) {  // the rest is not wanted any more
    for (auto& node : nodes_)
      if (node.host >= static_cast<int>(begun_hosts_) && std::exchange(node.alive, false)) --alive_;
    begun_hosts_ = hosts_.size();
    return;
  }
  while (begun_hosts_ < hosts_.size() && begun_hosts_ < answered_hosts_ + most_at_once) {
    if (reach_host(begun_hosts_)) {
      ++begun_hosts_;
      continue;
    }
    const int error = errno;
    return end(launcher_failed, frame_kind::job_ends, -1,
               "cannot start " + plan_.reach[0] + " for host " + plan_.hosts[begun_hosts_].name + ": " +
                   os::error_text(error));
  }
}

/// False with errno.
bool job::reach_host(std::size_t host) {
  auto link = os::make_socket_pair();
  if (!link.ok() || !os::set_blocking(link.value().first.number(), false).ok()) return false;
  auto words = plan_.reach;
  words.push_back(plan_.hosts[host].name);
  words.push_back(quoted(plan_.remote_quire) + " agent");
  const auto pid = start_helper(*start_, words, link.value().second.number());
  if (!pid.ok()) return false;
  auto& record = hosts_[host];
  record.pid = pid.value();
  record.alive = true;
  record.link = local::channel(std::move(link.value().first));
  record.life = watch::watch(0, 2, peer_limit_ns(), UINT64_MAX);  // its start has a limit of its own
  record.life.begin(base::now_ns());
  start_ns_ = base::now_ns() + start_limit_ns;
  return true;
}

/// Its first words. When all have said them, all nodes start.
void job::on_answer(std::size_t host) {
  if (std::exchange(hosts_[host].answered, true)) return;
  start_ns_ = base::now_ns() + start_limit_ns;
  if (++answered_hosts_ < hosts_.size() || phase_ != phase::running) return;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    hosts_[i].link.queue(std::make_shared<const std::string>(start_frame(i)));
    hosts_[i].link.send();
  }
  input_open_ = true;
}

/// Of our environment, only what speaks to Quire and what it stands on travels, beside what was asked for.
std::string job::start_frame(std::size_t host) const {
  const auto& where = plan_.hosts[host];
  start_description what{{}, where.first, where.nodes, plan_.nodes, plan_.command, {}};
  std::array<char, 4096> directory{};
  what.directory = ::getcwd(directory.data(), directory.size()) != nullptr ? directory.data() : "/";
  what.environment.emplace_back(base::row_of(base::option::peer_timeout).variable,
                                std::to_string(plan_.peer_timeout_s));
  for (const auto& entry : environment_with(plan_.environment)) {
    const std::size_t equals = std::min(entry.find('='), entry.size() - 1);
    const std::string name = entry.substr(0, equals);
    const bool travels = name.starts_with("QUIRE_") || name.starts_with("UCX_") || name.starts_with("OMP_") ||
                         name.starts_with("PYQUIRE_") || name == "PYTHONPATH" || name == "LD_LIBRARY_PATH";
    if (travels) what.environment.emplace_back(name, entry.substr(equals + 1));
  }
  return local::encode(frame_kind::start, -1, pack(what));
}

/// Who waits for many hosts is told how far it is; hosts that never come up end the job.
void job::check_start() {
  const std::uint64_t now = base::now_ns();
  if (phase_ != phase::running || start_ns_ == 0) return;
  const bool all = answered_hosts_ == hosts_.size();
  if (!all && hosts_.size() > most_at_once && now >= progress_ns_) {
    say(std::to_string(answered_hosts_) + " of " + std::to_string(hosts_.size()) + " hosts have answered");
    progress_ns_ = now + progress_ns;
  }
  if (now < start_ns_) return;
  std::size_t late = 0;
  if (all)
    late = static_cast<std::size_t>(
        std::find_if(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.remote_pid == 0; })->host);
  else
    while (hosts_[late].answered) ++late;
  end(launcher_failed, frame_kind::job_ends, -1,
      "host " + plan_.hosts[late].name + (all ? " has not started its nodes within " : " has not answered within ") +
          std::to_string(start_limit_ns / second) + " seconds");
}

std::string job::how_to_try(std::size_t host) const {
  return "try: " + plan_.reach[0] + " " + plan_.hosts[host].name + " " + quoted(plan_.remote_quire) + " --version";
}

}  // namespace quire::bootstrap::launcher
