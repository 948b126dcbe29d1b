// SPDX-License-Identifier: BSD-3-Clause
// `quire clean`: ends what jobs have left on this machine that were killed together with all who would have tidied up.
#include <fmt/core.h>

#include <memory>

#include "bootstrap/launcher/launcher.hpp"
#include "commands.hpp"
#include "left_over.hpp"

namespace quire::tools {
namespace {

constexpr int something_is_left = 1;

void print(const left_over& found) {
  for (const auto& one : found.processes) fmt::print("process {}\n", text_of(one));
  for (const auto& one : found.mounts) fmt::print("mount   {}: the node that served it is gone\n", text_of(one));
  for (const auto& one : found.segments) fmt::print("segment {}\n", text_of(one));
  for (const auto& one : found.files) fmt::print("file    {}: the node that made it is gone\n", one);
}

int clean(bool only_lists) {
  std::string why;
  const auto options = base::read_options(environ, why);
  if (!options.ok()) {
    fmt::print(stderr, "quire clean: {}\n", why);
    return bootstrap::launcher::launcher_failed;
  }
  // What ends may leave something itself: a mount is dead when its process has ended.
  constexpr int most_rounds = 10;
  std::vector<std::string> wrong;
  left_over found = find_left_over(options.value());
  if (found.empty()) fmt::print("nothing is left by jobs that were killed\n");
  for (int round = 0; !found.empty(); ++round) {
    print(found);
    if (only_lists || !wrong.empty() || round == most_rounds) break;
    std::fflush(stdout);
    wrong = end_left_over(found);
    found = find_left_over(options.value());
    if (found.empty()) fmt::print("all of it is ended\n");
    if (!found.empty() && !wrong.empty()) fmt::print("still there:\n");
  }
  for (const auto& one : wrong) fmt::print(stderr, "quire clean: {}\n", one);
  return found.empty() ? 0 : something_is_left;
}

}  // namespace

void add_clean(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("clean", "End what jobs that were killed have left on this machine");
  command->prefix_command(false);
  const auto only_lists = std::make_shared<bool>(false);
  command->add_flag("--dry-run", *only_lists, "Only list it");
  command->footer(
      "Found are: processes of jobs whose `quire run` is gone, mounts (--mount) that nobody serves, System V segments\n"
      "and files of pools. Jobs that run are not touched. Of this user; root: of all.\n\n"
      "Exit status: 0 if nothing is left, 1 if something is, 125: wrong use.");
  command->callback([only_lists, &about] { about.command = [only_lists] { return clean(*only_lists); }; });
}

}  // namespace quire::tools
