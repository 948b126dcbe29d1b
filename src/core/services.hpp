// SPDX-License-Identifier: BSD-3-Clause
// Runtime services: numbered requests to a node (core::ask(), core::notify()), answered by a handler (core::answer())
// that runs on that node's driver and must not block. services.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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
  /// The call that asks, for people; null: nobody has said.
  [[nodiscard]] const char* name_of(std::uint32_t number) const noexcept {
    return number < most ? entries_[number].name : nullptr;
  }

  // Driver's thread.
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
