// SPDX-License-Identifier: BSD-3-Clause
// `quire bench NAME`: comparisons that a user can repeat on his own machine. The work is done by a script of the bench
// folder and by programs built or installed beside it; here they are found and started.
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "bootstrap/launcher/launcher.hpp"
#include "commands.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

struct places {
  fs::path script, programs, applications;
};

/// Installed below the folder of this program, or where it was built.
places find_places(const fs::path& self) {
  const fs::path prefix = self.parent_path().parent_path();
  const places installed{prefix / "share/quire/bench/page_update.py", prefix / "libexec/quire", prefix / "libexec/quire"};
  if (fs::exists(installed.script)) return installed;
  return {QUIRE_SOURCE_DIR "/bench/page_update/page_update.py", prefix / "bench", prefix / "bin"};
}

int compare_page_updates(const std::vector<std::string>& arguments) {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  const auto at = find_places(self);
  for (const auto& needed : {at.script, at.programs / "page_update_costs"}) {
    if (fs::exists(needed)) continue;
    fmt::print(stderr, "quire bench: {} is missing; build or install it (CMake: QUIRE_BUILD_APPS=ON)\n", needed.string());
    return bootstrap::launcher::launcher_failed;
  }
  std::vector<std::string> words = {"python3", at.script,      "--programs", at.programs, "--applications",
                                    at.applications, "--quire", self};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (auto& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execvp(raw[0], raw.data());
  fmt::print(stderr, "quire bench: python3 cannot be started: {}\n", std::strerror(errno));
  return bootstrap::launcher::launcher_failed;
}

}  // namespace

void add_bench(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("bench", "Compare the mechanisms on this machine");
  command->prefix_command(false);
  command->require_subcommand(1);
  auto* pages = command->add_subcommand("page-update", "The ways to update a page atomically: costs, fetches, applications");
  pages->prefix_command(false);
  const auto arguments = std::make_shared<std::vector<std::string>>();
  pages->add_flag_callback("--quick", [arguments] { arguments->emplace_back("--quick"); }, "Each thing once and short, in about two minutes");
  pages->add_option_function<std::string>("--output", [arguments](const std::string& folder) {
    arguments->insert(arguments->end(), {"--output", folder});
  }, "Folder for page-update.json and page-update.html (default: the current one)")->type_name("FOLDER");
  pages->callback([arguments, &about] { about.command = [arguments] { return compare_page_updates(*arguments); }; });
}

}  // namespace quire::tools
