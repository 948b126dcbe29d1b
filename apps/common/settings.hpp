// The part of the command line that all applications have in common. The settings of an application derive from
// run_settings; it adds its own options to a CLI::App and lets parse() do the rest.
#pragma once

#include <cstddef>
#include <string>

namespace CLI {
class App;
}

namespace apps {

struct run_settings {
  int threads = 1;     ///< per node
  std::string consistency = "sequential";  ///< Quire only: of the arrays, "sequential", "release", "scan" or "blocks"
  bool hints = true;   ///< Quire only: say beforehand what will be read and written
  bool check = false;
  bool progress = false;
  bool json = false;
};

/// Adds --threads (not to a "serial" variant), --consistency (to a "quire" variant), --check with the given description, --progress and --json, and reads the
/// command line. Prints and exits on --help and on errors.
void parse(CLI::App& app, run_settings& wanted, const std::string& variant, const std::string& check_about, int argc,
           char** argv);

/// Adds --unit, the sharing unit in KiB, to a "quire" variant; `standard` says what 0 stands for.
void add_unit(CLI::App& app, std::size_t& unit_kib, const std::string& variant, const std::string& standard);

/// Adds --no-hints to a "quire" variant.
void add_hints(CLI::App& app, run_settings& wanted, const std::string& variant);

}  // namespace apps
