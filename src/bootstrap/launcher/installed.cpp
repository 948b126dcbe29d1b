// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/installed.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "bootstrap/launcher/spawn.hpp"

namespace quire::bootstrap::launcher {
namespace {

namespace fs = std::filesystem;

/// The host of each node, in order, as launchers take it that would count and sort hosts in their own way.
std::string host_of_each_node(const job_plan& plan) {
  std::string text;
  for (const auto& host : plan.hosts)
    for (int node = 0; node < host.nodes; ++node) text += (text.empty() ? "" : ",") + host.name;
  return text;
}

/// Seconds, rounded up.
std::string seconds_of(std::int64_t ms) { return std::to_string((ms + 999) / 1000); }

}  // namespace

std::string find_program(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + std::string(name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::string find_mpirun() {
  for (const char* const name : {"mpirun", "mpirun.openmpi"}) {
    const std::string found = find_program(name);
    if (found.empty()) continue;
    std::error_code error;
    const fs::path real = fs::canonical(found, error);
    const std::string program = real.filename().string();
    if (program == "orterun" || program == "prterun") return found;
    if (program == name && fs::exists(real.parent_path() / "ompi_info", error)) return found;
  }
  return {};
}

bool speaks_pmix() noexcept {
#ifdef QUIRE_HAVE_PMIX
  return true;
#else
  return false;
#endif
}

/// Nodes are not bound to cores: the service thread would share its program's.
std::vector<std::string> mpirun_words(const job_plan& plan, const std::string& mpirun, const std::string& agent) {
  std::vector<std::string> words{mpirun, "-np", std::to_string(plan.nodes), "--bind-to", "none"};
  if (!plan.hosts.empty()) words.insert(words.end(), {"--map-by", "seq", "--host", host_of_each_node(plan)});
  if (!agent.empty()) words.insert(words.end(), {"--mca", "plm_rsh_agent", agent});
  if (plan.survivors_go_on) words.push_back("--enable-recovery");
  if (plan.tag) words.push_back("--tag-output");
  if (plan.timeout_ms > 0) words.insert(words.end(), {"--timeout", seconds_of(plan.timeout_ms)});
  for (const auto& entry : environment_with(plan.environment)) {
    const std::string name = entry.substr(0, entry.find('='));
    if (name.starts_with("QUIRE_") || name.starts_with("UCX_") || name.starts_with("OMP_") || name == "LD_LIBRARY_PATH")
      words.insert(words.end(), {"-x", name});
  }
  words.insert(words.end(), plan.command.begin(), plan.command.end());
  return words;
}

/// A node that dies ends the job, if the others are not to go on. More nodes than a host has cores for are no mistake.
std::vector<std::string> srun_words(const job_plan& plan, const std::string& srun) {
  std::vector<std::string> words{srun, "--mpi=pmix", "--ntasks=" + std::to_string(plan.nodes), "--cpu-bind=none",
                                 plan.survivors_go_on ? "--kill-on-bad-exit=0" : "--kill-on-bad-exit=1"};
  if (!plan.hosts.empty())
    words.insert(words.end(), {"--distribution=arbitrary", "--nodelist=" + host_of_each_node(plan), "--overcommit"});
  if (plan.tag) words.push_back("--label");
  if (plan.timeout_ms > 0) words.push_back("--time=" + std::to_string((plan.timeout_ms + 59'999) / 60'000));
  words.insert(words.end(), plan.command.begin(), plan.command.end());
  return words;
}

}  // namespace quire::bootstrap::launcher
