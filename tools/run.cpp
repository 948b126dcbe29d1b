// SPDX-License-Identifier: BSD-3-Clause
// `quire run`: a job of several nodes, on this machine or on others.
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advisor/decide.hpp"
#include "advisor/tuned_run.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "bootstrap/launcher/agent.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "bootstrap/launcher/statistics.hpp"
#include "closed_options.hpp"
#include "commands.hpp"
#include "copies.hpp"
#include "exec_plan.hpp"
#include "kept_input.hpp"
#include "library_path.hpp"
#include "os/limits.hpp"
#include "os/mounts.hpp"
#include "os/process.hpp"
#include "record_folder.hpp"
#include "report/job.hpp"
#include "report/races.hpp"
#include "run_hosts.hpp"
#include "run_program.hpp"
#include "statistics_table.hpp"

namespace quire::tools {
namespace {

using bootstrap::launcher::launcher_failed;

constexpr const char* to_table = "-";  // --stats without a file
constexpr const char *usual_check = "shared",
                     *exact_check = "exact";     // the first leaves out what one node has for itself
constexpr const char* with_sharing = "sharing";  // a table, and the report on false sharing

/// What was written on the command line.
struct run_arguments {
  std::optional<int> nodes;
  bool tag = false, mount_cache = false, encrypt = false, copies = false, is_trial = false;
  std::optional<double> timeout_seconds;
  std::optional<int> end_with;
  int automatic = 0;                    ///< --auto: at most so many runs; 0: it was not asked for
  std::string advice = "quire.advice";  ///< its file
  std::string statistics, check, detect, transport, pool, replicas, memory, place, memory_limit, peer_timeout,
      on_failure, mount, report, perfetto;
  std::vector<std::string> settings;
  host_arguments where;
};

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, file_closer>;

int refuse(const std::string& why) {
  fmt::print(stderr, "quire run: {}\n", why);
  return launcher_failed;
}

int usable_cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                       : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

/// Refuses what is not a number of type Number, with what is legal, and the number that begins it, as in "10s".
template <class Number>
CLI::Validator number_of(const std::string& legal) {
  return CLI::Validator(
      [legal](const std::string& text) -> std::string {
        Number number;
        if (CLI::detail::lexical_cast(text, number)) return {};
        const char* const begin = text.c_str();
        char* end = nullptr;
        const double value = std::strtod(begin, &end);
        const bool begins_so = end != begin && *end != '\0' && value > 0 && std::isfinite(value);
        return fmt::format(
            "{} is not allowed{} be {}", text,
            begins_so ? fmt::format("; did you mean {}? It may", text.substr(0, static_cast<std::size_t>(end - begin)))
                      : "; it may",
            legal);
      },
      "");
}

bool wants_report(const run_arguments& asked) { return !asked.report.empty() || !asked.perfetto.empty(); }

/// What does not go along with --check; empty: nothing.
std::string wrong_check(const run_arguments& asked) {
  if (asked.check.empty() || (!wants_report(asked) && asked.automatic == 0)) return {};
  return fmt::format("--check records other things than {}: start the program twice",
                     asked.automatic != 0 ? "--auto" : "--report");
}

bool is_file(const std::string& statistics) {
  return !statistics.empty() && statistics != to_table && statistics != with_sharing;
}

/// What --stats asks for; a bare word that is none of those that it knows is hardly a file. Empty if it is all right.
std::string wrong_statistics(const std::string& asked) {
  if (!is_file(asked) || asked.find_first_of("./") != asked.npos) return {};
  return fmt::format(
      "--stats={0} is not allowed; it may be sharing (the table, and a report on false sharing), or a file with a . or "
      "/ in its name, as ./{0}",
      asked);
}

/// Settings of the command line as environment variables, and over those of the environment in `options`; what is wrong
/// with them in `why`.
bool settings_into(const run_arguments& asked, base::option_values& options, bootstrap::launcher::job_plan& plan,
                   std::string& why) {
  std::vector<std::pair<std::string, std::string>> all;
  if (!asked.detect.empty()) all.emplace_back("detect", asked.detect);
  if (!asked.transport.empty()) all.emplace_back("transport", asked.transport);
  if (!asked.pool.empty()) all.emplace_back("pool", asked.pool);
  if (!asked.replicas.empty()) all.emplace_back("replicas", asked.replicas);
  if (!asked.memory_limit.empty()) all.emplace_back("memory_limit", asked.memory_limit);
  if (!asked.peer_timeout.empty()) all.emplace_back("peer_timeout", asked.peer_timeout);
  if (!asked.on_failure.empty()) all.emplace_back("on_failure", asked.on_failure);
  if (!asked.mount.empty()) all.emplace_back("mount", asked.mount);
  if (asked.encrypt) all.emplace_back("encrypt", "1");
  if (asked.mount_cache) all.emplace_back("mount_cache", "1");
  // Two contents are of use to who goes on.
  if (asked.statistics == with_sharing) all.emplace_back("sharing", "1");
  if (!asked.check.empty()) all.emplace_back("check", asked.check == exact_check ? "all_races" : "races");
  if (asked.replicas == "1" && asked.on_failure.empty()) all.emplace_back("on_failure", "notify");
  for (const auto& setting : asked.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == setting.npos) {
      why = "--set " + setting + ": write NAME=VALUE";
      return false;
    }
    all.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  for (const auto& [name, value] : all) {
    const base::option_row* row = base::find_option(name);
    if (row == nullptr) {
      why = base::unknown_option_text(name);
      return false;
    }
    const auto parsed = base::parse_option(*row, value, why);
    if (!parsed.ok()) return false;
    options.set(row->id, parsed.value());  // a text is the nodes' affair
    if (row->id == base::option::mount) options.set(row->id, std::string_view(value));
    plan.environment.emplace_back(row->variable, value);
  }
  return true;
}

/// The directory of --mount, which is the same for all nodes wherever they begin. What is wrong with it is in `why`,
/// where nodes begin on this host.
/// Whether nothing dead lies there any more.
bool unmount_dead(const std::string& where, bool tells, std::string& why) {
  const std::string canonical = os::canonical_directory(where);
  for (const auto& mount : os::mounts()) {
    if (mount.where != canonical || !os::is_dead(mount)) continue;
    if (const auto wrong = os::detach(mount); !wrong.empty()) {
      why = fmt::format(
          "--mount {0}: a job that was killed is still mounted there, and cannot be unmounted: {1}; try: "
          "fusermount3 -u -z {0}",
          where, wrong);
      return false;
    }
    if (tells) fmt::print(stderr, "quire run: --mount {}: unmounted a job that was killed\n", where);
  }
  return true;
}

bool mount_into(const base::option_values& options, bootstrap::launcher::job_plan& plan, std::string& why) {
  const std::string& directory = options.text(base::option::mount);
  if (directory.empty()) return true;
  plan.mount = std::filesystem::absolute(directory).lexically_normal().string();
  const std::string variable = base::row_of(base::option::mount).variable;
  std::erase_if(plan.environment, [&](const auto& one) { return one.first == variable; });
  plan.environment.emplace_back(variable, plan.mount);
  if (!plan.hosts.empty()) return true;
  const bool tells = options.choice<base::log_level>(base::option::log) >= base::log_level::warning;
  if (!unmount_dead(plan.mount, tells, why)) return false;
  if (const auto wrong = os::why_no_mount_at(plan.mount); !wrong.empty())
    why = fmt::format("--mount {}: {}", directory, wrong);
  return why.empty();
}

/// As a table, or into the file, which another job may have written meanwhile. False after a message.
bool report(const bootstrap::launcher::job_plan& plan, const bootstrap::launcher::job_outcome& outcome, file json,
            bool stock) {
  if (json == nullptr) {
    fmt::print(stderr, "{}", statistics_table(plan, outcome, stock));
    return true;
  }
  const std::string text = bootstrap::launcher::statistics_json(plan, outcome);
  (void)!::ftruncate(::fileno(json.get()), 0);  // a device, or a pipe, has no length
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), json.get()) == text.size() && std::fflush(json.get()) == 0;
  int error = errno;
  if (std::fclose(json.release()) != 0 && written) error = errno;
  if (written && error == 0) return true;
  fmt::print(stderr, "quire run: cannot write the statistics: {}{}\n", os::error_text(error),
             os::explain_error(error).text);
  return false;
}

/// The file beside which nodes leave their records.
std::string wanted_file(const run_arguments& asked) {
  return !asked.report.empty() ? asked.report : !asked.perfetto.empty() ? asked.perfetto : asked.advice;
}

/// Where the records of --check are until it has told: in this directory, which hosts have in common. Of several jobs
/// at a time each has one, and the next takes one that was left behind.
std::optional<record_folder> folder_for_check(std::string& why) {
  constexpr int most = 100;
  std::optional<record_folder> found;
  for (int i = 1; !found && i <= most; ++i)
    found = record_folder::take(i == 1 ? "quire.check" : fmt::format("quire.check.{}", i), why);
  return found;
}

/// Makes the page of what the nodes have left. The records go if that was possible; else false after a message.
bool make_report(const run_arguments& asked, const record_folder& records) {
  std::string why, note;
  if (!report::make(records.path(), asked.report, asked.perfetto, why, note)) {
    fmt::print(stderr, "quire run: no report: {}\n", why);
    return false;
  }
  records.drop();
  if (!note.empty()) fmt::print(stderr, "quire run: {}\n", note);
  for (const std::string& file : {asked.report, asked.perfetto})
    if (!file.empty()) fmt::print(stderr, "quire run: the report is in {}\n", file);
  return true;
}

/// When the job ends at the latest.
bool limits_into(const run_arguments& asked, bootstrap::launcher::job_plan& plan, std::string& why) {
  if (asked.timeout_seconds && !(*asked.timeout_seconds > 0 && *asked.timeout_seconds <= 1e9)) {
    why = fmt::format("--timeout {}: more than 0 seconds, and at most 1000000000", *asked.timeout_seconds);
  } else if (asked.end_with && *asked.end_with < 1) {
    why = fmt::format("--end-with {}: the number of a process, from 1 on", *asked.end_with);
  }
  plan.timeout_ms = static_cast<std::int64_t>(std::ceil(asked.timeout_seconds.value_or(0) * 1000));
  plan.end_with = asked.end_with.value_or(0);
  plan.is_trial = asked.is_trial;
  return why.empty();
}
/// What the nodes have left becomes what was asked for; it goes, unless `written` becomes false.
report::checked tell_records(const run_arguments& asked, const std::optional<record_folder>& records, bool& written) {
  if (!asked.check.empty()) {
    const auto clean = report::tell_races(records->path(), "quire run");
    records->drop();
    return clean;
  }
  if (wants_report(asked))
    written = make_report(asked, *records) && written;
  else if (records)
    records->drop();
  return report::checked::clean;
}

/// What the command line and the environment say together.
struct wanted_job {
  run_program program{};
  bootstrap::launcher::job_plan plan{};
  bool tells = true;  ///< lines that are no error
};

/// `words`: program and arguments. 0, or the exit status after a message.
int plan_into(const run_arguments& asked, std::vector<std::string> words, bool is_first, wanted_job& job) {
  std::string why;
  const auto from_environment = base::read_options(environ, why);
  if (!from_environment.ok()) return refuse(why);
  auto options = from_environment.value();
  auto& plan = job.plan;
  plan.command = std::move(words);
  if (!settings_into(asked, options, plan, why)) return refuse(why);
  job.tells = is_first && options.choice<base::log_level>(base::option::log) >= base::log_level::warning;
  if (const int status = prepare(plan.command, {asked.memory, asked.place, asked.copies, job.tells}, job.program);
      status != 0)
    return status;
  if (const auto path = library_path_for(job.program.name)) plan.environment.emplace_back("LD_LIBRARY_PATH", *path);
  if (const auto path = python_path_for(job.program.name)) plan.environment.emplace_back("PYTHONPATH", *path);
  plan.peer_timeout_s = static_cast<int>(options.number(base::option::peer_timeout));
  plan.survivors_go_on = options.choice<base::failure_choice>(base::option::on_failure) == base::failure_choice::notify;

  const auto wished = static_cast<int>(options.number(base::option::nodes));
  const auto nodes = asked.nodes ? asked.nodes : wished > 0 ? std::optional(wished) : std::nullopt;
  plan.nodes = nodes.value_or(std::min(usable_cores(), base::most_nodes));
  if (plan.nodes >= 1 && plan.nodes <= base::most_nodes && !hosts_into(asked.where, nodes, plan, why))
    return refuse(why);
  if (plan.nodes < 1 || plan.nodes > base::most_nodes)
    return refuse(fmt::format("-n {}: a job has 1 to {} nodes", plan.nodes, base::most_nodes));
  if (job.tells && plan.nodes > 1) warn_of_hidden(job.program);
  if (!mount_into(options, plan, why)) return refuse(why);
  plan.tag = asked.tag || options.flag(base::option::tag);
  return limits_into(asked, plan, why) ? 0 : refuse(why);
}

bootstrap::launcher::job_outcome run_tuned(const run_arguments& asked, const std::vector<std::string>& words,
                                           const wanted_job& job, const record_folder& records, bool& kept) {
  const auto plan_with = [&](const std::vector<advisor::setting>& tried) {
    run_arguments other = asked;
    for (const auto& one : tried) {
      if (one.option == advisor::tuned_memory)
        other.memory = one.value;
      else if (one.option == advisor::tuned_place)
        other.place = one.value;
      else if (one.option == advisor::tuned_nodes)
        other.nodes = std::atoi(one.value.c_str());
      else
        other.settings.push_back(one.option + "=" + one.value);
    }
    wanted_job made;
    if (plan_into(other, words, false, made) != 0) return std::optional<bootstrap::launcher::job_plan>{};
    start_at_once(made.program, made.plan);
    return std::optional(std::move(made.plan));
  };
  const auto closed = closed_options(asked.memory, asked.place, asked.settings, words);
  return advisor::run_tuned(
      {asked.automatic, asked.advice, closed, job.program.places_threads, job.program.by_exec, words}, job.plan,
      plan_with, records, kept);
}

int run(const CLI::App& command, const run_arguments& asked, const std::vector<std::string>& after_dashes) {
  ::signal(SIGXFSZ, SIG_IGN);  // a report, or the output, that may not be so long is an error like others
  std::string why;
  auto words = command.remaining();
  if (!words.empty() && words[0].starts_with('-'))
    return refuse(unknown_option_text(command, "run", words[0]));  // it stands where the program should be
  // The first "--" ends the options of this command, if the program has not done so before; then it belongs to the
  // program.
  const std::size_t ours = words.empty() && !after_dashes.empty() ? 1 : 0;
  words.insert(words.end(), after_dashes.begin() + static_cast<std::ptrdiff_t>(ours), after_dashes.end());
  if (words.empty() || words[0].empty())
    return refuse("which program? For example: quire run -n 4 ./program arguments");
  if (const auto wrong = wrong_statistics(asked.statistics); !wrong.empty()) return refuse(wrong);
  if (const auto wrong = wrong_check(asked); !wrong.empty()) return refuse(wrong);
  wanted_job job;
  if (const int status = plan_into(asked, words, true, job); status != 0) return status;
  auto& [program, plan, tells] = job;
  const char* const own_only = !asked.statistics.empty() ? "--stats"
                               : wants_report(asked)     ? "--report"
                               : asked.automatic != 0    ? "--auto"
                               : !asked.check.empty()    ? "--check"
                                                         : nullptr;
  if (!hand_over(asked.where, own_only, plan, why)) return refuse(why);
  start_at_once(program, plan);
  file json;
  if (is_file(asked.statistics)) {
    json.reset(std::fopen(asked.statistics.c_str(), "we"));
    if (json == nullptr) return refuse(fmt::format("cannot write {}: {}", asked.statistics, os::error_text(errno)));
  }
  std::optional<record_folder> records;
  if (wants_report(asked) || asked.automatic != 0 || !asked.check.empty()) {
    records = !asked.check.empty() ? folder_for_check(why) : record_folder::take(wanted_file(asked), why);
    if (!records)
      return refuse((!asked.check.empty() ? "--check " : wants_report(asked) ? "--report " : "--advice ") + why);
    plan.environment.emplace_back(base::row_of(base::option::report).variable, records->path());
  }
  bool written = true;
  const auto outcome =
      asked.automatic != 0 ? run_tuned(asked, words, job, *records, written) : bootstrap::launcher::run_job(plan);
  const auto clean = tell_records(asked, records, written);
  if (!asked.statistics.empty()) written = report(plan, outcome, std::move(json), program.by_exec) && written;
  if (outcome.nobody_joined && !program.by_exec && program.hidden.empty() && !asked.copies && tells)
    if (const auto warning = copies_warning(program.name, plan.nodes)) fmt::print(stderr, "quire run: {}\n", *warning);
  if (outcome.exit_status != 0) return outcome.exit_status;
  if (clean == report::checked::found) return report::races_found;
  return written && clean == report::checked::clean ? 0 : launcher_failed;
}

constexpr const char* run_footer =
    "Standard input goes to node 0. SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 go on to all nodes; a second SIGINT "
    "or\n"
    "SIGTERM kills them. Ctrl-Z stops them all. When a node dies, or does not answer, the others are told, and ended\n"
    "if they do not end by themselves; with --on-failure notify they go on.\n\n"
    "Exit status: 0 if all nodes ended well, else that of the node that failed first (128 + n if signal n killed it);\n"
    "with --on-failure notify: 0 if all survivors ended well; under --launcher mpirun or srun that launcher's.\n"
    "66: --check found something; 124: time limit; 125: wrong use, or `quire run` itself failed; 126: the program "
    "cannot be run; 127: not found.\n\n"
    "Examples:\n"
    "  quire run -n 4 --tag ./program input.txt\n"
    "  quire run -n 2 --stats=counters.json --set unit=64K ./program\n"
    "  quire run --hosts a,b,c:2 ./program";

/// Options that few need: of single features, measurements and tests.
constexpr const char* more_options = "More options";

/// --help has what programs need, --help-all the rest.
class run_formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: quire run [OPTIONS] PROGRAM [ARGUMENTS...]\n";
  }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    all_ = mode == CLI::AppFormatMode::All;
    std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
    if (const std::size_t at = help.find("\n\n\n"); at != help.npos)
      help.erase(at, 1);  // of the group that is left out
    return help;
  }
  std::string make_group(std::string group, bool positional, std::vector<const CLI::Option*> options) const override {
    if (group == more_options && !all_) return {};
    return CLI::Formatter::make_group(std::move(group), positional, std::move(options));
  }

 private:
  mutable bool all_ = false;
};

// ---- What people need

void add_place_options(CLI::App& command, run_arguments& asked) {
  command
      .add_option("-n,--nodes", asked.nodes,
                  "How many nodes (default: QUIRE_NODES, else one for each core, or as the hosts say)")
      ->type_name("N")
      ->check(number_of<int>(fmt::format("1 to {}", base::most_nodes)));
  command.add_option("--hosts", asked.where.hosts, "Start the nodes on these hosts; a:2 takes two before the next")
      ->type_name("A,B,...");
  command.add_option("--hostfile", asked.where.host_file, "The same from a file: a line for each, \"name slots=N\"")
      ->type_name("FILE");
  command
      .add_option(
          "--launcher", asked.where.launcher,
          "Who starts them: Quire by ssh (the default), or an installed launcher. auto: srun in an allocation of "
          "Slurm, else Open MPI's mpirun if it is installed and there is no --agent, else ssh")
      ->type_name("ssh|mpirun|srun|auto");
}

void add_output_options(CLI::App& command, run_arguments& asked) {
  command.add_flag("--tag", asked.tag, "Begin each line of output with its node: \"[2] text\"");
  command.add_option("--timeout", asked.timeout_seconds, "End the job after this time, with exit status 124")
      ->type_name("SECONDS")
      ->check(number_of<double>("more than 0, and at most 1000000000"));
  command.add_flag(fmt::format("--stats{{{}}}", to_table), asked.statistics,
                   "Counters of all nodes at the end: a table on standard error, with --stats=sharing a report on "
                   "false sharing as well; with --stats=FILE as JSON");
  command
      .add_option("--report", asked.report,
                  "Where the time went, as a page for a browser: who waited when, for which memory and at which line, "
                  "false sharing")
      ->type_name("FILE.html");
  command
      .add_flag("--auto{1}", asked.automatic,
                "Find settings with which the program is faster, and means the same: each run tries one, and takes "
                "back what was slower. With --auto=RUNS at most so many runs, one after the other")
      ->type_name("RUNS")
      ->check(CLI::Range(1, 100));
}

void add_job_options(CLI::App& command, run_arguments& asked) {
  command.add_option("--transport", asked.transport, "How nodes talk")
      ->type_name(base::row_of(base::option::transport).legal);
  command.add_flag("--encrypt", asked.encrypt,
                   "Encrypt what goes between nodes over TCP, by libsodium (QUIRE_ENCRYPT)");
  command.add_option("--memory", asked.memory, memory_help)
      ->check(CLI::IsMember({sequential_memory, mixed_memory, automatic_memory}));
  command
      .add_option("--memory-limit", asked.memory_limit,
                  "Memory that shared pages may take on each node: what is more goes to other nodes, then to a file")
      ->type_name("SIZE");
  command
      .add_option("--on-failure", asked.on_failure,
                  "What becomes of the job when a node is lost: it ends, or the others are told and go on")
      ->type_name(base::row_of(base::option::on_failure).legal);
  command.add_option("--set", asked.settings, "Set any option of `quire info --options`; may be given several times")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

// ---- What few need

void add_special_options(CLI::App& command, run_arguments& asked) {
  command
      .add_option("--agent", asked.where.agent,
                  "Run instead of ssh: COMMAND HOST WORDS... (also by mpirun, which then reaches hosts so)")
      ->type_name("COMMAND");
  command
      .add_option("--end-with", asked.end_with,
                  "End the job when this process ends, with exit status 129 (not under mpirun or srun)")
      ->type_name("PID")
      ->check(number_of<int>("the number of a process, from 1 on"));
  command.add_flag("--trial", asked.is_trial, "Of `quire predict`: nothing is said if the time is over")->group("");
  command
      .add_option("--perfetto", asked.perfetto,
                  "The same as --report as events for Perfetto (ui.perfetto.dev) and chrome://tracing")
      ->type_name("FILE.json");
  command
      .add_flag(fmt::format("--check{{{}}}", usual_check), asked.check,
                "Tell data races: two nodes that write the same bytes without order, with both lines, in memory with "
                "release consistency (--memory mixed); and whether Quire keeps what this consistency promises. "
                "--check=exact looks at what a node has long had for itself, too: it says so where that matters")
      ->type_name("HOW")
      ->check(CLI::IsMember({usual_check, exact_check}));
  command.add_option("--advice", asked.advice, "--auto: where it keeps what it has found out from run to run")
      ->type_name("FILE")
      ->capture_default_str();
  command.add_flag("--copies", asked.copies,
                   "Start the program as it is, whatever it is: copies that share nothing, unless it is linked with "
                   "Quire");
  command.add_option("--place", asked.place, place_help)->type_name("HOW")->check(CLI::Validator(wrong_place, ""));
  command
      .add_option("--mount", asked.mount,
                  "Show containers as files for other programs in this empty directory of each host, by FUSE")
      ->type_name("DIRECTORY");
  command.add_flag("--mount-cache", asked.mount_cache,
                   "With --mount: the kernel caches files that are opened for reading, for a second");
}

void add_mechanism_options(CLI::App& command, run_arguments& asked) {
  const auto legal = [](base::option which) { return base::row_of(which).legal; };
  command.add_option("--detect", asked.detect, "How an access to an absent page is noticed")
      ->type_name(legal(base::option::detect));
  command.add_option("--pool", asked.pool, "What shared pages are made of")->type_name(legal(base::option::pool));
  command.add_option("--replicas", asked.replicas, "Keep the content of each unit on so many nodes beside its owner's")
      ->type_name(legal(base::option::replicas));
  command
      .add_option(
          "--peer-timeout", asked.peer_timeout,
          "End the job when a node does not answer for so long, because it hangs, is stopped or cut off; 0: never")
      ->type_name("SECONDS");
}

}  // namespace

void add_agent(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("agent", "What `quire run --hosts` starts on each host");
  command->prefix_command(false);
  command->group("");  // for no person
  command->callback([&about] { about.command = [] { return bootstrap::launcher::run_agent(); }; });
}

void add_run(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("run", "Start a program as several nodes, on this machine or on others");
  const auto asked = std::make_shared<run_arguments>();
  command->formatter(std::make_shared<run_formatter>());
  command->prefix_command();
  command->footer(run_footer);
  command->set_help_all_flag("--help-all", "Print also the options that few need, and exit");
  add_place_options(*command, *asked);
  add_output_options(*command, *asked);
  add_job_options(*command, *asked);
  command->option_defaults()->group(more_options);
  add_special_options(*command, *asked);
  add_mechanism_options(*command, *asked);
  command->callback([command, asked, &about] {
    about.command = [&, command, asked] { return run(*command, *asked, about.after_dashes); };
  });
}

}  // namespace quire::tools
