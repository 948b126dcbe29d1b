#include "run_hosts.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/options.hpp"
#include "bootstrap/launcher/hosts.hpp"
#include "bootstrap/launcher/installed.hpp"
#include "os/process.hpp"

namespace quire::tools {
namespace {

using namespace bootstrap::launcher;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Without questions: there is nobody to answer them. A connection that no longer answers ends within half a minute.
/// Connections of its own: what the user's configuration shares with other sessions would live, or die, with them.
const std::vector<std::string> ssh_words{"ssh", "-x", "-T",
                                         "-o",  "ControlMaster=no",
                                         "-o",  "ControlPath=none",
                                         "-o",  "ClearAllForwardings=yes",
                                         "-o",  "BatchMode=yes",
                                         "-o",  "ConnectTimeout=20",
                                         "-o",  "ServerAliveInterval=10",
                                         "-o",  "ServerAliveCountMax=3"};

std::string own_path() {
  char path[4096];
  const auto length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "quire";
}

bool become(std::vector<std::string> words, const job_plan& plan, std::string& why) {
  for (const auto& [name, value] : plan.environment) ::setenv(name.c_str(), value.c_str(), 1);
  for (const char* name : base::job_variables) ::unsetenv(name);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  why = fmt::format("cannot run {}: {}", words[0], os::error_text(errno));
  return false;
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
    std::ifstream file(asked.host_file);
    if (!file) {
      why = fmt::format("cannot read {}: {}", asked.host_file, os::error_text(errno));
      return false;
    }
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto hosts = asked.hosts.empty() ? parse_host_file(text, why) : parse_hosts(asked.hosts, why);
  if (!hosts.ok()) {
    why = (asked.hosts.empty() ? asked.host_file : "--hosts " + asked.hosts) + ": " + why;
    return false;
  }
  plan.nodes = nodes.value_or(slots_of(hosts.value()));
  plan.hosts = place_nodes(hosts.value(), plan.nodes);
  plan.reach = asked.agent.empty() ? ssh_words : words_of(asked.agent);
  if (plan.reach.empty()) {
    why = "--agent: which command?";
    return false;
  }
  plan.remote_quire = own_path();
  return true;
}

bool hand_over(const host_arguments& asked, const char* own_only, const job_plan& plan, std::string& why) {
  constexpr std::string_view known[] = {"auto", "ssh", "mpirun", "srun"};
  if (!asked.launcher.empty() && std::find(std::begin(known), std::end(known), asked.launcher) == std::end(known)) {
    const auto nearest = base::nearest_word(asked.launcher, known);
    why = fmt::format("--launcher {} is not allowed{} be auto|ssh|mpirun|srun", asked.launcher,
                      nearest.empty() ? "; it may" : fmt::format("; did you mean {}? It may", nearest));
    return false;
  }
  const bool automatic = asked.launcher.empty() || asked.launcher == "auto";
  if (asked.launcher == "ssh") {
    if (!plan.hosts.empty()) return true;
    why = "--launcher ssh needs hosts: --hosts a,b,c or --hostfile FILE";
    return false;
  }
  // Others end jobs after whole minutes, or with a status of their own.
  if (automatic && (plan.hosts.empty() || own_only != nullptr || plan.timeout_ms > 0 || !speaks_pmix())) return true;
  // mpirun and srun take it for the begin of another program.
  const bool colon = std::find(plan.command.begin(), plan.command.end(), ":") != plan.command.end();
  if (automatic && colon) return true;
  if (colon) {
    why = "an argument ':' of the program works with Quire's own starter only (--launcher ssh)";
    return false;
  }
  if (!automatic && own_only != nullptr) {
    why = fmt::format("{} works with Quire's own starter only (--launcher ssh)", own_only);
    return false;
  }
  if (!automatic && !speaks_pmix()) {
    why = "this Quire was built without PMIx, which --launcher mpirun and srun need (Debian: libpmix-dev)";
    return false;
  }
  const std::string srun = find_program("srun"), mpirun = find_mpirun();
  const bool allocated = std::getenv("SLURM_JOB_ID") != nullptr;
  if (asked.launcher == "srun" || (automatic && allocated && !srun.empty() && asked.agent.empty())) {
    if (!srun.empty()) return become(srun_words(plan, srun), plan, why);
    why = "srun is not installed (Debian: slurm-client)";
    return false;
  }
  if (asked.launcher == "mpirun" || !mpirun.empty()) {
    if (!mpirun.empty()) return become(mpirun_words(plan, mpirun, asked.agent), plan, why);
    why = "Open MPI's mpirun is not installed (Debian: openmpi-bin)";
    return false;
  }
  return true;
}

}  // namespace quire::tools
