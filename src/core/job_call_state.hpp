// SPDX-License-Identifier: BSD-3-Clause
// Whether a thread of this node is in a call in which a thread of each node takes part: job_call.hpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace quire::core {

struct job_call_state {
  std::atomic<std::uint32_t> thread{0};    ///< its number, + 1; 0: none
  std::atomic<const char*> name{nullptr};  ///< the call of the API; null: there is none
  std::atomic<int> refused{0};
};

}  // namespace quire::core
