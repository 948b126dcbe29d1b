// SPDX-License-Identifier: BSD-3-Clause
// Frames of a host (QUIRE_HOST_FRAMES): which nodes have their frames together. Each node of a host offers a memory
// file; the others open that of the first one that they can share memory with, and all tell what they have opened, so
// that every node knows the same of all. Application thread, in quire_start().
#pragma once

#include <string>

#include "start/introductions.hpp"
#include "base/options.hpp"
#include "base/status.hpp"
#include "bootstrap/bootstrap.hpp"
#include "os/process.hpp"

namespace quire::core {
struct configuration;
}

namespace quire::api {

class host_frames {
 public:
  /// Before introductions: makes the file, if that is asked for and goes with what else was.
  void offer(const base::option_values& options, const core::configuration& c, introduction& mine);
  /// After them. Collective, if any node offers a file. Fills in core::configuration::hosts and pool.host_file. A node
  /// that cannot have its host's frames has its own, and a line says why. As bootstrap::exchange().
  [[nodiscard]] base::status meet(bootstrap::bootstrap& job, const introductions& others, core::configuration& c);

 private:
  void keep_apart(const char* why);
  [[nodiscard]] std::string open_first(const introductions& others, const core::configuration& c, std::uint16_t& first);

  os::descriptor file_{};
};

}  // namespace quire::api
