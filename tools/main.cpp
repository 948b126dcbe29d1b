// `quire`: starts jobs, and tells what this machine offers.
#include <fmt/core.h>
#include <quire/quire.h>

#include <algorithm>

#include "base/options.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "commands.hpp"

namespace {

int refuse(const std::string& why) {
  fmt::print(stderr, "quire: {}\n", why);
  return quire::bootstrap::launcher::launcher_failed;
}

/// A word that the parser has no use for.
int refuse_word(const std::string& word, bool after_command) {
  if (after_command) return refuse(word + " is too much (`quire COMMAND --help` tells what may stand there)");
  constexpr std::string_view commands[] = {"run", "info", "config", "bench"};
  const auto nearest = quire::base::nearest_word(word, commands);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
  return refuse(fmt::format("{} is not a command or option of `quire`{} (`quire --help` lists all)", word, hint));
}

}  // namespace

int main(int argc, char** argv) {
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

  quire::tools::add_run(app, about);
  quire::tools::add_agent(app, about);
  quire::tools::add_info(app, about);
  quire::tools::add_config(app, about);
  quire::tools::add_bench(app, about);
  try {
    app.parse(arguments);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  if (!app.remaining().empty()) return refuse_word(app.remaining().front(), about.command != nullptr);
  if (!about.command) return refuse("which command? `quire --help` lists them");
  return about.command();
}
