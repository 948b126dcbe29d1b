// SPDX-License-Identifier: BSD-3-Clause
// Threads on other nodes (the programming model of Millipage): spawn and join by services. A function travels as module and
// offset, so that it is found where the program is loaded elsewhere.
#pragma once

#include <string_view>

#include "base/fault_heap.hpp"
#include "core/core.hpp"

namespace quire::api {

class thread_service {
 public:
  explicit thread_service(core::core& e);
  /// Starts what lies at `offset` of `module` (its base name; the program's is empty).
  [[nodiscard]] base::status spawn(int node, std::string_view module, std::uint64_t offset, std::uint64_t argument,
                                   std::uint64_t& id);
  [[nodiscard]] base::status join(std::uint64_t id, std::uint64_t& result);

  /// Called by a new thread: whether it has found its function. Its number, or 0 if it has not.
  [[nodiscard]] std::uint64_t started(const model::message& request, bool found) noexcept;
  void finished(std::uint64_t id, std::uint64_t result) noexcept;

 private:
  struct thread_entry {
    bool finished = false;
    bool awaited = false;
    std::uint64_t result = 0;
    model::message join{};
  };
  void on_spawn(const model::message& m, std::span<const std::byte> value);
  void on_join(const model::message& m);
  void on_finished(std::uint64_t id, std::uint64_t result);
  template <class F>
  void on_driver(F f) noexcept;

  core::core& core_;
  base::fault_map<std::uint64_t, thread_entry> threads_;  ///< those that run here; driver's thread
  std::uint64_t next_ = 1;
};

}  // namespace quire::api
