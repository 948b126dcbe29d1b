// SPDX-License-Identifier: BSD-3-Clause
// quire_exit(): the job ends although its threads go on. The node that calls tells all others. Each has a thread write
// what stdio holds, tells its launcher that its end is no accident, answers, and ends; the driver ends it if that takes
// too long.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "services/node/threads.hpp"
#include "core/core.hpp"

namespace quire::api {

class exit_service {
 public:
  exit_service(core::core& e, thread_service& threads);
  exit_service(const exit_service&) = delete;
  exit_service& operator=(const exit_service&) = delete;

  /// Ends the other nodes, and waits for their answers, but not for ever. False: another thread of this node does so
  /// already. Application thread.
  [[nodiscard]] bool end_others(int status) noexcept;
  /// The answer to all nodes that end the job. Application thread.
  void answer() noexcept;

 private:
  void on_told(const model::message& m) noexcept;
  void ends(model::node_id node) noexcept;

  core::core& core_;
  thread_service& threads_;
  std::atomic<bool> exits_{false};     ///< this node ends the job
  std::vector<std::uint8_t> ended_;    ///< nodes that have answered, or end the job themselves; driver's thread
  std::atomic<unsigned> answers_{0};   ///< how many these are
  std::vector<std::uint8_t> tellers_;  ///< nodes that end the job; driver's thread
  std::atomic<bool> told_{false};      ///< there is one
};

}  // namespace quire::api
