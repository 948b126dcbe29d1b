// SPDX-License-Identifier: BSD-3-Clause
// The detector of a job's nodes: what was asked for, else the best that all of them can have, so that nodes of one job
// behave alike on different kernels.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/options.hpp"
#include "base/status.hpp"
#include "detect/detector.hpp"
#include "pool/pool.hpp"

namespace quire::api {

/// What a node tells the others: why it cannot have the default detector, in words; empty if it can, or has another
/// because it, or its pool, was asked for.
struct detector_lack {
  std::array<char, 160> text{};
};

class detector_choice {
 public:
  /// What was asked for, or the best that this node can have with its pool. A status and a line for what it cannot
  /// have.
  base::status choose(const base::option_values& options, int asked, const pool::settings& pool);
  [[nodiscard]] detect::kind kind() const noexcept { return kind_; }
  [[nodiscard]] const detector_lack& lack() const noexcept { return lack_; }
  /// Once all have told: the default detector, if it was not asked for, only where no node lacks it. Node 0 says so.
  /// `hosts`: a name for each node, for people.
  void agree(std::span<const detector_lack> all, std::span<const std::string> hosts, std::size_t self);

 private:
  detect::kind kind_ = detect::kind::userfault_inline;
  bool automatic_ = false;
  detector_lack lack_{};
};

}  // namespace quire::api
