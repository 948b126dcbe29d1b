// SPDX-License-Identifier: BSD-3-Clause
// `quire bench NAME`: comparisons that a user can repeat on his own machine. The work is done by a script of the bench
// folder and by programs built or installed beside it; here they are found and started.
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "bench_network.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "commands.hpp"
#include "own_tree.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

/// One for each folder of bench that holds a comparison.
struct comparison {
  const char* name;    ///< of the command; its outputs are NAME.json and NAME.html
  const char* script;  ///< in the bench folder
  const char* needed;  ///< one of its programs
  const char* about;
};
constexpr comparison comparisons[] = {
    {"page-update", "page_update/page_update.py", "page_update_costs",
     "The ways to update a page atomically: costs, fetches, applications"},
    {"multiview", "multiview/multiview.py", "multiview_costs",
     "Sharing below a page, after Millipage's evaluation: views, costs, applications, chunks"},
    {"plurix", "papers/plurix.py", "quire_model",
     "Sequential and transactional consistency, after the comparison of Kerrighed and Plurix: speed-ups on 1 to 12 "
     "nodes"},
    {"kerrighed", "papers/kerrighed.py", "quire_model",
     "Sequential consistency, after Kerrighed's measurements: speed-ups on 1 to 12 nodes"},
};

struct places {
  fs::path script, programs, applications;
};

/// Installed below the folder of this program, or where it was built.
places find_places(const fs::path& self, const comparison& what) {
  const fs::path prefix = self.parent_path().parent_path();
  const places installed{prefix / "share/quire/bench" / what.script, prefix / "libexec/quire",
                         prefix / "libexec/quire"};
  if (fs::exists(installed.script)) return installed;
  return {sources_of(prefix) / "bench" / what.script, prefix / "bench", prefix / "bin"};
}

int compare(const comparison& what, const std::vector<std::string>& arguments) {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  const auto at = find_places(self, what);
  for (const auto& needed : {at.script, at.programs / what.needed}) {
    if (fs::exists(needed)) continue;
    fmt::print(stderr, "quire bench: {} is missing; build or install it (CMake: QUIRE_BUILD_APPS=ON)\n",
               needed.string());
    return bootstrap::launcher::launcher_failed;
  }
  std::vector<std::string> words = {"python3",        at.script,       "--programs", at.programs,
                                    "--applications", at.applications, "--quire",    self};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (auto& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execvp(raw[0], raw.data());
  fmt::print(stderr, "quire bench: python3 cannot be started: {}\n", std::strerror(errno));
  return bootstrap::launcher::launcher_failed;
}

void add_comparison(CLI::App& command, const comparison& what, session& about) {
  auto* one = command.add_subcommand(what.name, what.about);
  one->prefix_command(false);
  const auto arguments = std::make_shared<std::vector<std::string>>();
  one->add_flag_callback(
      "--quick", [arguments] { arguments->emplace_back("--quick"); },
      "Each thing once and short, in two minutes at most");
  const auto output = [arguments](const std::string& folder) {
    arguments->insert(arguments->end(), {"--output", folder});
  };
  one->add_option_function<std::string>(
         "--output", output, fmt::format("Folder for {0}.json and {0}.html (default: the current one)", what.name))
      ->type_name("FOLDER");
  one->add_option_function<std::string>("--out", output)->group("");  // in short
  one->callback(
      [arguments, &what, &about] { about.command = [arguments, &what] { return compare(what, *arguments); }; });
}

}  // namespace

void add_bench(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("bench", "Compare the mechanisms on this machine");
  command->prefix_command(false);
  command->require_subcommand(1);
  for (const comparison& what : comparisons) add_comparison(*command, what, about);
  add_bench_network(*command, about);
}

}  // namespace quire::tools
