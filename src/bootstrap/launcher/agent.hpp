// SPDX-License-Identifier: BSD-3-Clause
// `quire agent`: the hand of `quire run --hosts` on one host. It starts the host's nodes and carries frames between
// them and the launcher, over its standard input and output; what becomes of the job the launcher decides. Started by
// ssh, or by what --agent names; in a process with one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quire::bootstrap::launcher {

/// So much output of its nodes an agent sends before it hears that some was taken.
inline constexpr std::uint64_t output_window_bytes = 128 << 10;

/// What an agent is to start.
struct start_description {
  std::string directory;               ///< working directory of the nodes
  int first = 0, here = 1, nodes = 1;  ///< the host's first node, how many it has, and how many the job
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;  ///< set over what the agent itself has
};
/// As the payload of a frame `start`, and back; nothing if it is not one of this version of Quire.
[[nodiscard]] std::string pack(const start_description& what);
[[nodiscard]] std::optional<start_description> unpack_start(std::string_view packed);

/// Runs until the host's nodes have ended, or the launcher is gone; then they are ended. Nothing is left behind. Gives
/// the exit status, which is 0 unless there was no launcher to talk to.
[[nodiscard]] int run_agent();

}  // namespace quire::bootstrap::launcher
