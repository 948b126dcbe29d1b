// SPDX-License-Identifier: BSD-3-Clause
// What the steps of a checkpoint and of a restart share: all nodes learn how all fared, and go on or stop together.
// One application thread of each node.
#pragma once

#include <quire/quire.h>

#include <cstdint>
#include <string>

#include "checkpoint/outcome.hpp"

namespace quire::api {

/// The path of a checkpoint as it travels to the engine's process: absolute, as that process may stand in another
/// directory.
struct checkpoint_path {
  char text[384] = {};
};
/// Empty text for what cannot be a path, or is too long.
[[nodiscard]] checkpoint_path make_checkpoint_path(const char* given);

/// Says what went wrong here, if anything did, and tells what the worst was on any node: QUIRE_OK everywhere or
/// nowhere. A node whose own step went well says whose did not. `quiet`: nobody says anything.
[[nodiscard]] quire_status agree(const char* doing, const checkpoint::outcome& mine, bool quiet = false);

/// The same, aloud. What the node that failed says of it is the detail of `call` on all nodes, with what can be done.
[[nodiscard]] quire_status agree_and_explain(const char* call, const char* doing, const checkpoint::outcome& mine,
                                             const char* advice);

/// `status` of a call with a path that only this node knows: why make_checkpoint_path() has made nothing of it.
[[nodiscard]] quire_status explain_path(const char* call, quire_status status, const char* given,
                                        const checkpoint_path& made) noexcept;

/// The same path on all nodes? QUIRE_INVALID on all if not.
[[nodiscard]] quire_status agree_on_path(const checkpoint_path& path);

/// A line of progress at level info, at most every two seconds.
class progress_lines {
 public:
  progress_lines(const char* doing, std::uint64_t all_bytes);
  void at(std::uint64_t bytes) noexcept;

 private:
  const char* doing_;
  std::uint64_t all_bytes_, next_ns_;
};

}  // namespace quire::api
