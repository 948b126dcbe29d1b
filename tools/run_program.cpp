// SPDX-License-Identifier: BSD-3-Clause
#include "run_program.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "bootstrap/launcher/launcher.hpp"
#include "exec_plan.hpp"
#include "os/limits.hpp"
#include "python_script.hpp"
#include "starters.hpp"

namespace quire::tools {
namespace {

using bootstrap::launcher::launcher_failed;
using words = std::vector<std::string>;

constexpr const char* copies_hint = "To start copies that share nothing, give --copies";

int refused(const std::string& why, int status = launcher_failed) {
  fmt::print(stderr, "quire run: {}\n", why);
  return status;
}

/// The words before the program: this command's, then the options that were written behind `quire exec`.
int put_exec(words& command, const found_program& found, const start_wishes& asked, bool is_script) {
  auto own = exec_words(asked.memory, asked.place);
  if (is_script) own.emplace_back("--openmp");
  const auto at = [&](std::size_t index) { return command.begin() + static_cast<std::ptrdiff_t>(index); };
  if (found.by_exec) {
    const words given(at(found.exec_at + 2), at(found.at));
    for (const auto& option : given) {
      const std::string name = option.substr(0, option.find('='));
      const auto same = std::find(own.begin(), own.end(), name);
      if (!option.starts_with("--") || same == own.end()) continue;
      if (name != "--stack") return refused(name + " is given to quire run and to quire exec: leave one out");
      own.erase(same, same + 2);
    }
    own.insert(own.end(), given.begin(), given.end());
    command.erase(at(found.exec_at), at(found.at));
  }
  const std::size_t where = found.by_exec ? found.exec_at : found.at;
  command.insert(at(where), own.begin(), own.end());
  return 0;
}

/// Asks here what each node would refuse; 0, or the exit status after a message.
int start_by_exec(words& command, const found_program& found, const start_wishes& asked, run_program& program) {
  const auto word = [&](std::size_t index) { return command.begin() + static_cast<std::ptrdiff_t>(index); };
  const auto has = [&](const char* option) {
    return found.by_exec && std::find(word(found.exec_at), word(found.at), option) != word(found.at);
  };
  const bool openmp = has("--openmp") || !program.script.empty();
  auto exec = plan_exec(command[found.at], has("--any") || openmp);
  if (openmp) exec.places_threads = false;
  if (exec.status != 0) return refused(exec.why + ". " + copies_hint, exec.status);
  program.places_threads = exec.places_threads;
  if (!exec.places_threads && !asked.place.empty())
    return refused("--place is for threads of programs without OpenMP; those that " + exec.path +
                   " makes itself stay where they are made");
  if (!program.script.empty() && asked.tells)
    fmt::print(stderr,
               "quire run: {} runs on node 0, and regions of OpenMP in its libraries on all nodes, with one memory "
               "(docs/guide/python.md; for copies that share nothing, give --copies)\n",
               program.script);
  if (exec.has_own_malloc && asked.tells)
    fmt::print(
        stderr,
        "quire run: {} has a malloc() of its own, whose memory nodes cannot share: on one node (-n 1) it runs as "
        "it is, without Quire\n",
        exec.path);
  if (exec.places_threads && !exec.has_own_malloc && asked.tells && !found.by_exec)
    fmt::print(stderr,
               "quire run: the threads that {} makes are on all nodes, with one memory (docs/guide/threads.md; for "
               "copies that share nothing, give --copies)\n",
               exec.path);
  if (found.at == 0 && exec.path == command[0] && program.script.empty())
    program.at_once = settings_at_once(exec, asked.memory, asked.place);
  const std::size_t before = command.size();
  const int status = put_exec(command, found, asked, !program.script.empty());
  program.exec_words = command.size() - before;
  return status;
}

/// --memory and --place of a program that `quire exec` does not start; 0, or the exit status after a message.
int refuse_options(const std::string& program, const start_wishes& asked) {
  const char* const option = !asked.memory.empty() ? "--memory" : !asked.place.empty() ? "--place" : nullptr;
  if (option == nullptr) return 0;
  if (asked.copies) return refused(fmt::format("{} and --copies exclude each other: copies share no memory", option));
  if (uses_quire(program))
    return refused(
        fmt::format("{} is for programs with OpenMP, or with threads, that are not linked with Quire; {} is none",
                    option, program));
  const auto plan = plan_exec(program, true);
  if (plan.status != 0) return refused(plan.why, plan.status);
  if (asked.tells)
    fmt::print(stderr, "quire run: {} has no effect: {} has no threads that could be on other nodes\n", option,
               program);
  return 0;
}

}  // namespace

int prepare(words& command, const start_wishes& asked, run_program& program) {
  if (const auto small = os::too_small_for_nodes(); !small.empty()) return refused(small);
  const auto found = find_program_in(command);
  program.name = command[found.at];
  if (asked.copies) return refuse_options(program.name, asked);
  if (!found.why_not.empty()) return refused(found.why_not);
  program.by_exec = found.by_exec || is_for_exec(program.name);
  if (!program.by_exec) program.script = stock_python_program(std::span(command).subspan(found.at));
  if (!program.script.empty() && plan_exec(program.name, true).status != 0) program.script.clear();
  program.by_exec = program.by_exec || !program.script.empty();
  auto bad = why_unreadable(program.name);
  if (bad.empty() && !program.by_exec) {
    bad = why_no_copies(program.name);
    if (!bad.empty()) bad += std::string(". ") + copies_hint;
  }
  if (!bad.empty()) return refused(bad, bootstrap::launcher::cannot_execute);
  if (program.by_exec && ::access("/proc/self/fd", F_OK) != 0)
    return refused("/proc is not there, which Quire reads: mount it (mount -t proc proc /proc)");
  if (program.by_exec) return start_by_exec(command, found, asked, program);
  if (!uses_quire(program.name))
    program.hidden = hidden_program({command.begin() + static_cast<std::ptrdiff_t>(found.at), command.end()});
  return refuse_options(program.name, asked);
}

void start_at_once(const run_program& program, bootstrap::launcher::job_plan& plan) {
  if (program.at_once.empty() || !plan.hosts.empty()) return;
  plan.command.erase(plan.command.begin(), plan.command.begin() + static_cast<std::ptrdiff_t>(program.exec_words));
  plan.environment.insert(plan.environment.end(), program.at_once.begin(), program.at_once.end());
}

void warn_of_hidden(const run_program& program) {
  if (program.hidden.empty()) return;
  fmt::print(stderr,
             "quire run: {0} is started on each node, and {1} by it: copies that share nothing. For the threads of {1} "
             "on all nodes write quire exec before it (QUIRE_LOG=error silences this)\n",
             program.name, program.hidden);
}

}  // namespace quire::tools
