// SPDX-License-Identifier: BSD-3-Clause
// `quire report`: what nodes have left in a directory, as a page, or as events for Perfetto.
#include <fmt/core.h>

#include <memory>

#include "bootstrap/launcher/launcher.hpp"
#include "commands.hpp"
#include "report/job.hpp"
#include "report/races.hpp"

namespace quire::tools {

void add_report(CLI::App& quire, session& about) {
  struct arguments {
    std::string directory, page, events;
    bool check = false;
  };
  auto* command = quire.add_subcommand(
      "report", "Make the report of a job whose nodes have left their records in a directory (QUIRE_REPORT)");
  const auto asked = std::make_shared<arguments>();
  command->add_option("DIRECTORY", asked->directory, "Where the records are")->required();
  command->add_option("-o,--output", asked->page, "The page for a browser")->type_name("FILE.html");
  command->add_option("--perfetto", asked->events, "Events for Perfetto (ui.perfetto.dev) and chrome://tracing")
      ->type_name("FILE.json");
  command->add_flag(
      "--check", asked->check,
      "Tell data races between nodes, and broken promises of Quire, of a job with QUIRE_CHECK=races; exit "
      "status 66 if there are any");
  command->footer(
      "Lines of the program are found by addr2line and names of its static data by nm, both of binutils, in files that "
      "are still where they were.\n"
      "Example, where another launcher starts the job:\n"
      "  QUIRE_REPORT=records srun -n 4 ./program && quire report records -o report.html");
  command->callback([&about, asked] {
    about.command = [asked]() -> int {
      std::string why, note;
      if (asked->check && asked->page.empty() && asked->events.empty()) {
        const auto what = report::tell_races(asked->directory, "quire report");
        return what == report::checked::clean   ? 0
               : what == report::checked::found ? report::races_found
                                                : bootstrap::launcher::launcher_failed;
      }
      if (asked->check) why = "--check makes no page: leave out -o and --perfetto";
      if (why.empty() && asked->page.empty() && asked->events.empty())
        why = "what shall be made? -o FILE.html, --perfetto FILE.json, or both";
      const bool made = why.empty() && report::make(asked->directory, asked->page, asked->events, why, note);
      if (!note.empty()) fmt::print(stderr, "quire report: {}\n", note);
      if (made) return 0;
      fmt::print(stderr, "quire report: {}\n", why);
      return bootstrap::launcher::launcher_failed;
    };
  });
}

}  // namespace quire::tools
