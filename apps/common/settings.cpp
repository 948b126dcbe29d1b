// Called once at the start of a run.
#include "common/settings.hpp"

#include <cstdlib>

#include <CLI/CLI.hpp>

namespace apps {

void parse(CLI::App& app, run_settings& wanted, const std::string& variant, const std::string& check_about, int argc,
           char** argv) {
  if (variant != "serial")
    app.add_option("--threads", wanted.threads, variant == "quire" ? "threads per node" : "threads")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
  if (variant == "quire")
    app.add_option("--consistency", wanted.consistency, "of the shared arrays; blocks: sequential, but for parallel blocks between barriers; scan: release, written pages are found by scans")
        ->check(CLI::IsMember({"sequential", "release", "scan", "blocks"}))
        ->capture_default_str();
  app.add_flag("--check", wanted.check, check_about);
  app.add_flag("--progress", wanted.progress, "show progress on standard error");
  app.add_flag("--json", wanted.json, "print the result as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
}

void add_unit(CLI::App& app, std::size_t& unit_kib, const std::string& variant, const std::string& standard) {
  if (variant == "quire")
    app.add_option("--unit", unit_kib, "sharing unit in KiB; 0: " + standard)
        ->check(CLI::IsMember({0, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}));
}

void add_hints(CLI::App& app, run_settings& wanted, const std::string& variant) {
  if (variant == "quire")
    app.add_flag("!--no-hints", wanted.hints, "no prefetching: what others wrote comes by page faults");
}

}  // namespace apps
