// SPDX-License-Identifier: BSD-3-Clause
// `quire`: starts jobs, and tells what this machine offers.
#include <fcntl.h>
#include <fmt/core.h>
#include <quire/quire.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/log.hpp"
#include "base/options.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "commands.hpp"
#include "os/process.hpp"

namespace {

int refuse(const std::string& why) {
  fmt::print(stderr, "quire: {}\n", why);
  return quire::bootstrap::launcher::launcher_failed;
}

struct command {
  std::string_view name;
  void (*add)(CLI::App&, quire::tools::session&);
  bool listed = true;  ///< for people
};
constexpr command commands[] = {
    {"run", quire::tools::add_run},       {"agent", quire::tools::add_agent, false}, {"exec", quire::tools::add_exec},
    {"info", quire::tools::add_info},     {"config", quire::tools::add_config},      {"bench", quire::tools::add_bench},
    {"report", quire::tools::add_report}, {"predict", quire::tools::add_predict},    {"top", quire::tools::add_top},
    {"leave", quire::tools::add_leave},   {"clean", quire::tools::add_clean}};

/// The command that the first word names; else all. Each node of a job begins with one, and to make the options of all
/// takes longer than what it does.
void add_commands(CLI::App& app, quire::tools::session& about, const std::string& first) {
  const auto named =
      std::find_if(std::begin(commands), std::end(commands), [&](const auto& c) { return c.name == first; });
  for (const auto& one : commands)
    if (named == std::end(commands) || &one == named) one.add(app, about);
}

/// A word that the parser has no use for.
int refuse_word(const std::string& word, bool after_command) {
  if (after_command) return refuse(word + " is too much (`quire COMMAND --help` tells what may stand there)");
  std::vector<std::string_view> names;
  for (const auto& one : commands)
    if (one.listed) names.push_back(one.name);
  const auto nearest = quire::base::nearest_word(word, names);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
  return refuse(fmt::format("{} is not a command or option of `quire`{} (`quire --help` lists all)", word, hint));
}

/// Words that the command which was asked for does not take.
int refuse_extras(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += (name.empty() ? "" : " ") + command->get_name();
  }
  const auto words = command->remaining();
  if (words.empty()) return refuse("too many words");
  if (words.front().starts_with('-')) return refuse(quire::tools::unknown_option_text(*command, name, words.front()));
  return refuse(
      fmt::format("`quire {}` takes no {} (`quire {} --help` tells what may stand there)", name, words.front(), name));
}

/// What was printed may not have been written, as on a full disk: then it is no success.
int finish(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  const int error = errno;
  const int failed =
      refuse("cannot write to standard output" + (error == 0 ? std::string() : ": " + quire::os::error_text(error)));
  return status != 0 ? status : failed;
}

}  // namespace

std::string quire::tools::unknown_option_text(const CLI::App& command, const std::string& name,
                                              const std::string& word) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& one : option->get_lnames()) names.push_back("--" + one);
  const std::vector<std::string_view> words(names.begin(), names.end());
  const auto nearest = base::nearest_word(word.substr(0, word.find('=')), words);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
  return fmt::format("{} is not an option of `quire {}`{} (`quire {} {}` lists all)", word, name, hint, name,
                     command.get_help_all_ptr() != nullptr ? "--help-all" : "--help");
}

/// What a shell has closed (2>&-) must not become another file, nor each message an error.
static void open_standard_descriptors() {
  int lowest = 0;
  while (lowest >= 0 && lowest <= 2) lowest = ::open("/dev/null", O_RDWR);
  if (lowest > 2) (void)::close(lowest);
}

int main(int argc, char** argv) {
  open_standard_descriptors();
  CLI::App app{"Quire: one shared memory for threads on many machines.", "quire"};
  app.set_version_flag("--version", "quire " QUIRE_VERSION_STRING);
  app.prefix_command();
  app.footer(
      "`quire COMMAND --help` tells more about a command, for example:\n"
      "  quire run -n 4 ./program arguments\n"
      "  quire info");
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  quire::tools::session about{{dashes, arguments.end()}, {}};
  arguments.erase(dashes, arguments.end());
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them

  add_commands(app, about, arguments.empty() ? std::string() : arguments.back());
  try {
    app.parse(arguments);
  } catch (const CLI::Success& done) {  // --help, --version
    return finish(app.exit(done));
  } catch (const CLI::ExtrasError&) {
    return refuse_extras(app);
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  if (!app.remaining().empty()) return refuse_word(app.remaining().front(), about.command != nullptr);
  if (!about.command) return refuse("which command? `quire --help` lists them");
  try {
    return finish(about.command());
  } catch (const std::system_error& error) {  // as of a line that cannot be written: standard error may be a file
    quire::base::log(quire::base::log_level::error, "%s", error.what());
    return quire::bootstrap::launcher::launcher_failed;
  }
}
