// SPDX-License-Identifier: BSD-3-Clause
#include "run_hosts.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "base/options.hpp"
#include "bootstrap/launcher/hosts.hpp"
#include "bootstrap/launcher/installed.hpp"
#include "os/file_content.hpp"
#include "os/process.hpp"

namespace quire::tools {
namespace {

using namespace bootstrap::launcher;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Without questions: there is nobody to answer them. Connections of its own: what the user's configuration shares with
/// other sessions would live, or die, with them.
const std::vector<std::string> ssh_words{"ssh",
                                         "-x",
                                         "-T",
                                         "-o",
                                         "ControlMaster=no",
                                         "-o",
                                         "ControlPath=none",
                                         "-o",
                                         "ClearAllForwardings=yes",
                                         "-o",
                                         "BatchMode=yes",
                                         "-o",
                                         "ConnectTimeout=20"};

/// A connection that no longer answers ends by itself within half a minute, but not before the job's own limits; never
/// where there are none.
std::vector<std::string> reach_by_ssh(int peer_timeout_s) {
  std::vector<std::string> words = ssh_words;
  constexpr int least_s = 10, count = 3;
  const int interval_s = peer_timeout_s == 0 ? 0 : std::max(least_s, peer_timeout_s);
  for (const std::string& option :
       {fmt::format("ServerAliveInterval={}", interval_s), fmt::format("ServerAliveCountMax={}", count),
        fmt::format("TCPKeepAlive={}", peer_timeout_s == 0 ? "no" : "yes")}) {
    words.emplace_back("-o");
    words.push_back(option);
  }
  return words;
}

std::string own_path() {
  char path[4096];
  const auto length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "quire";
}

bool become(std::vector<std::string> words, const job_plan& plan, std::string& why) {
  for (const auto& [name, value] : plan.environment) ::setenv(name.c_str(), value.c_str(), 1);
  for (const char* name : base::job_variables) ::unsetenv(name);
  ::unsetenv(base::launcher_variable);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  why = fmt::format("cannot run {}: {}", words[0], os::error_text(errno));
  return false;
}

/// What only the own starter can do, of what was asked for; nullptr if there is nothing.
const char* what_hinders(const char* own_only, const job_plan& plan) {
  if (own_only != nullptr) return own_only;
  // mpirun and srun take it for the begin of another program.
  const bool colon = std::find(plan.command.begin(), plan.command.end(), ":") != plan.command.end();
  return colon ? "an argument ':' of the program" : nullptr;
}

/// For --launcher auto: srun in an allocation of Slurm, else mpirun, where they can do what was asked for. Others end
/// jobs after whole minutes, or with a status of their own.
std::string choose_launcher(const host_arguments& asked, bool hindered, const job_plan& plan, const std::string& srun,
                            const std::string& mpirun) {
  if (plan.hosts.empty() || hindered || plan.timeout_ms > 0 || !speaks_pmix() || !asked.agent.empty()) return "ssh";
  if (std::getenv("SLURM_JOB_ID") != nullptr && !srun.empty()) return "srun";
  return mpirun.empty() ? "ssh" : "mpirun";
}

}  // namespace

bool hosts_into(const host_arguments& asked, std::optional<int> nodes, job_plan& plan, std::string& why) {
  if (asked.hosts.empty() && asked.host_file.empty()) {
    if (asked.agent.empty()) return true;
    why = "--agent says how to reach hosts; name them by --hosts or --hostfile";
    return false;
  }
  if (!asked.hosts.empty() && !asked.host_file.empty()) {
    why = "--hosts and --hostfile both name hosts; use one of them";
    return false;
  }
  std::string text;
  if (!asked.host_file.empty()) {
    auto file = os::content_of(asked.host_file);
    if (file.error != 0) {
      why = fmt::format("cannot read {}: {}", asked.host_file, os::error_text(file.error));
      return false;
    }
    text = std::move(file.text);
  }
  const auto hosts = asked.hosts.empty() ? parse_host_file(text, why) : parse_hosts(asked.hosts, why);
  if (!hosts.ok()) {
    why = (asked.hosts.empty() ? asked.host_file : "--hosts " + asked.hosts) + ": " + why;
    return false;
  }
  plan.nodes = nodes.value_or(slots_of(hosts.value()));
  plan.hosts = place_nodes(hosts.value(), plan.nodes);
  plan.reach = asked.agent.empty() ? reach_by_ssh(plan.peer_timeout_s) : words_of(asked.agent);
  if (plan.reach.empty()) {
    why = "--agent: which command?";
    return false;
  }
  plan.remote_quire = own_path();
  return true;
}

bool hand_over(const host_arguments& asked, const char* own_only, const job_plan& plan, std::string& why) {
  constexpr std::string_view known[] = {"ssh", "mpirun", "srun", "auto"};
  if (!asked.launcher.empty() && std::find(std::begin(known), std::end(known), asked.launcher) == std::end(known)) {
    const auto nearest = base::nearest_word(asked.launcher, known);
    why = fmt::format("--launcher {} is not allowed{} be ssh|mpirun|srun|auto", asked.launcher,
                      nearest.empty() ? "; it may" : fmt::format("; did you mean {}? It may", nearest));
    return false;
  }
  if (asked.launcher == "ssh" && plan.hosts.empty()) {
    why = "--launcher ssh needs hosts: --hosts a,b,c or --hostfile FILE";
    return false;
  }
  // What is installed decides nothing, unless it is asked to.
  if (asked.launcher.empty() || asked.launcher == "ssh") return true;
  const std::string srun = find_program("srun"), mpirun = find_mpirun();
  const char* const hindrance = what_hinders(own_only, plan);
  const std::string chosen =
      asked.launcher == "auto" ? choose_launcher(asked, hindrance != nullptr, plan, srun, mpirun) : asked.launcher;
  if (chosen == "ssh") return true;
  if (hindrance != nullptr) {
    why = fmt::format("{} works with Quire's own starter only (--launcher ssh, the default)", hindrance);
  } else if (!speaks_pmix()) {
    why = "this Quire was built without PMIx, which --launcher mpirun and srun need (Debian: libpmix-dev)";
  } else if (chosen == "srun" && !asked.agent.empty()) {
    why = "--agent has no meaning for srun, which reaches hosts through Slurm: leave one of them out";
  } else if (chosen == "srun" && srun.empty()) {
    why = "srun is not installed (Debian: slurm-client)";
  } else if (chosen == "mpirun" && mpirun.empty()) {
    why = "Open MPI's mpirun is not installed (Debian: openmpi-bin)";
  } else {
    return become(chosen == "srun" ? srun_words(plan, srun) : mpirun_words(plan, mpirun, asked.agent), plan, why);
  }
  return false;
}

}  // namespace quire::tools
