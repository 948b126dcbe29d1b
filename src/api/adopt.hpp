// SPDX-License-Identifier: BSD-3-Clause
// Regions of memory that the program had before (quire_region_adopt), and the way back at the end of the job.
#pragma once

#include <vector>

#include "runtime/runtime.hpp"
#include "os/content_copy.hpp"

namespace quire::api {

/// A region outside of the range has been made. Each node, driver's thread.
void note_adopted(const core::region_description& made);

/// What adopted regions hold at the end of the job, on its way to be private memory of this node.
class kept_memory {
 public:
  /// All nodes call together, when nobody writes any more: this node fetches the content.
  [[nodiscard]] quire_status fetch(runtime& r);
  /// The engine has stopped: the content stands where the regions were.
  void put_back(runtime& r) noexcept;

 private:
  struct part {
    core::region_slot* region = nullptr;
    os::content_copy content{};
  };
  std::vector<part> parts_{};
};

}  // namespace quire::api
