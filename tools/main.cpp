// `quire`: starts jobs on this machine, and tells what this machine offers.
#include <fmt/core.h>
#include <quire/quire.h>

#include "bootstrap/launcher/launcher.hpp"
#include "commands.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Quire: one shared memory for threads on many machines.", "quire"};
  app.set_version_flag("--version", "quire " QUIRE_VERSION_STRING);
  app.require_subcommand(1);
  app.footer("`quire COMMAND --help` tells more about a command, for example:\n"
             "  quire run -n 4 ./program arguments\n"
             "  quire info");
  int exit_status = 0;
  quire::tools::add_run(app, exit_status);
  quire::tools::add_info(app, exit_status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "quire: {}\n", error.what());
    return quire::bootstrap::launcher::launcher_failed;
  }
  return exit_status;
}
