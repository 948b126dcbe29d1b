// SPDX-License-Identifier: BSD-3-Clause
// The memory into which a node records for the report. Who looks after the node (the launcher, or the agent on its
// host) holds it open, so that what a node has recorded is there when it has been killed. It is read by `quire report`
// alone (record/tell.hpp). One thread.
#pragma once

#include <string>
#include <string_view>

#include "os/process.hpp"

namespace quire::bootstrap::launcher {

class kept_record {
 public:
  /// From the payload of a frame `record`. What cannot be opened (a process that may not be looked into) is not kept.
  void take(std::string_view payload);
  /// The node has ended. Puts the memory beside its record, as "quire.3.memory", unless it has written the record
  /// itself. False with errno: it cannot be written.
  [[nodiscard]] bool put_down();

 private:
  os::descriptor memory_;
  std::string record_;
};

}  // namespace quire::bootstrap::launcher
