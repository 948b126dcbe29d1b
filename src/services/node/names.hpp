// SPDX-License-Identifier: BSD-3-Clause
// Names for values: how a node finds what another has allocated. services/names.hpp, on node 0, decides.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/core.hpp"
#include "model/message.hpp"
#include "services/names.hpp"

namespace quire::api {

inline constexpr std::size_t longest_public_name = services::names::longest;
/// Whether a call was given a name: of 1 to longest_public_name characters. What is wrong with it is said.
[[nodiscard]] bool is_name(const char* call, const char* name) noexcept;

[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> value) noexcept {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

class name_service {
 public:
  explicit name_service(core::core& e);
  [[nodiscard]] base::status publish(const char* name, std::uint64_t value);
  [[nodiscard]] base::status lookup(const char* name, std::int64_t timeout_ms, std::uint64_t& value);

  /// A region goes: names of what lay in it go, too. Driver's thread; on nodes other than 0 there are none.
  void forget(std::uint64_t base, std::uint64_t bytes) noexcept { names_.on_gone(base, bytes); }

  // Checkpoints; on node 0.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> save();
  void load(std::span<const std::pair<std::string, std::uint64_t>> names);

 private:
  void on_publish(const model::message& m, std::string_view name);
  void on_lookup(const model::message& m, std::string_view name);

  core::core& core_;
  services::names names_{};  ///< driver's thread of node 0
};

}  // namespace quire::api
