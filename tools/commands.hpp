// The commands of `quire`: each adds itself to the parser and runs when it was asked for. Called by main.cpp.
#pragma once

#include <CLI/CLI.hpp>

namespace quire::tools {

/// Adds the command; its exit status is left in `exit_status` when it has run. `environment` is main's.
void add_run(CLI::App& quire, int& exit_status);
void add_info(CLI::App& quire, int& exit_status);

}  // namespace quire::tools
