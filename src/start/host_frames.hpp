// SPDX-License-Identifier: BSD-3-Clause
// Frames of a host (QUIRE_HOST_FRAMES): which nodes have their frames together. Each node of a host offers a memory
// file; the others open that of the first one that they can share memory with, and all tell what they have opened, so
// that every node knows the same of all. Application thread, in quire_start().
//
// Where it does not go with what else was asked for, a node has frames of its own: with a line, unless `auto` was asked
// for. A node that wants them and cannot have them always says why.
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
  /// The words of the option, in their order.
  enum class choice : int { apart, together, automatic };

  /// `by_memory`: nodes of a host talk through shared memory. If they do not, they stand for several hosts, unless
  /// frames were asked for by name.
  host_frames(const base::option_values& options, bool by_memory) noexcept
      : wanted_(options.choice<choice>(base::option::host_frames)),
        by_memory_(by_memory),
        is_watched_(options.flag(base::option::sharing) || !options.text(base::option::report).empty() ||
                    !options.text(base::option::events).empty()) {}
  /// Before introductions: makes the file, if it is wanted and goes with what else was asked for.
  void offer(const core::configuration& c, introduction& mine);
  /// After them. Collective, if any node offers a file. Fills in core::configuration::hosts, pool.host_file and, with a
  /// memory limit, host_holds. A node
  /// that cannot have its host's frames has its own, and a line says why. As bootstrap::exchange().
  [[nodiscard]] base::status meet(bootstrap::bootstrap& job, const introductions& others, core::configuration& c);

 private:
  void keep_apart(const char* why) const;
  [[nodiscard]] base::status count_frames(core::configuration& c) const;
  [[nodiscard]] std::string open_first(const introductions& others, const core::configuration& c, std::uint16_t& first);

  choice wanted_;
  bool by_memory_;
  bool is_watched_;  ///< what nodes ask each other for is counted or recorded: with frames together they ask little
  os::descriptor file_{};
};

}  // namespace quire::api
