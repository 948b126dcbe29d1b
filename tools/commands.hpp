// SPDX-License-Identifier: BSD-3-Clause
// The commands of `quire`: each adds itself to the parser, which leaves the one that was asked for to main.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace quire::tools {

/// What main knows and the commands use.
struct session {
  /// From the first "--" on: CLI11 would hand it from the command back to `quire`. Empty without one.
  std::vector<std::string> after_dashes;
  /// Left by the parser for the command that was asked for; gives the exit status.
  std::function<int()> command;
};

/// The sentence that refuses a word which is no option of a command of that name, with the nearest one.
[[nodiscard]] std::string unknown_option_text(const CLI::App& command, const std::string& name,
                                              const std::string& word);

void add_run(CLI::App& quire, session& about);
/// The hidden command that serves `quire run --hosts` on a host.
void add_agent(CLI::App& quire, session& about);
void add_exec(CLI::App& quire, session& about);
void add_info(CLI::App& quire, session& about);
void add_config(CLI::App& quire, session& about);
void add_bench(CLI::App& quire, session& about);
void add_report(CLI::App& quire, session& about);
void add_predict(CLI::App& quire, session& about);
void add_top(CLI::App& quire, session& about);
void add_leave(CLI::App& quire, session& about);
void add_clean(CLI::App& quire, session& about);

}  // namespace quire::tools
