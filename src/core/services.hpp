// SPDX-License-Identifier: BSD-3-Clause
// Runtime services: numbered requests to a node, answered by a handler that runs on that node's driver and must not
// block. services.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "model/message.hpp"

namespace quire::core {

class core;

class service_table {
 public:
  explicit service_table(core& node) : core_(node) {}

  using handler = void (*)(void* context, core&, const model::message&, std::span<const std::byte>) noexcept;
  static constexpr std::size_t most = 32;
  /// `name`: of the call of the API that asks, for people. Before the node starts.
  void set(std::uint32_t number, handler what, void* context, const char* name = nullptr) noexcept;
  /// Sends `m` (a, b, c are free) with `value` to node `to` and waits for the answer, which replaces `m`. Application
  /// thread.
  [[nodiscard]] base::status ask(model::node_id to, std::uint32_t number, model::message& m,
                                 std::span<const std::byte> value, std::int64_t timeout_ms = -1) noexcept;

  // Driver's thread.
  /// Answers a request, from a handler or later.
  void answer(const model::message& request, base::status why, std::uint64_t a = 0, std::uint64_t b = 0) noexcept;
  /// Sends a request that expects no answer.
  void notify(model::node_id to, std::uint32_t number, std::uint64_t a, std::uint64_t b, std::uint64_t c,
              std::span<const std::byte> value) noexcept;
  void on_message(const model::message& m, std::span<const std::byte> value) noexcept;

 private:
  struct entry {
    handler what = nullptr;
    void* context = nullptr;
    const char* name = nullptr;
  };
  core& core_;
  std::array<entry, most> entries_{};
};

}  // namespace quire::core
