// SPDX-License-Identifier: BSD-3-Clause
// Bytes of code that are planned first, and then all change, or none. While there is one thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>

namespace quire::program::watch {

/// Some systems let no code run that was changed (SELinux): tried on a page that is nobody's.
[[nodiscard]] bool may_change_code() noexcept;

class code_changes {
 public:
  /// What stands there, or will.
  [[nodiscard]] std::uint8_t byte_at(std::uint64_t at) const;
  void set(std::uint64_t at, std::span<const std::uint8_t> bytes);
  /// False: the system allows no code to be changed. What has changed is as it was again.
  [[nodiscard]] bool perform();

 private:
  struct change {
    std::uint8_t after = 0, before = 0;
    [[nodiscard]] change other() const noexcept { return {before, after}; }
  };
  using changes = std::map<std::uint64_t, change>;
  /// Page by page, those before `end`. Returns the first change that was not made; that before it may be in a page that
  /// cannot be run.
  [[nodiscard]] changes::iterator write(changes::iterator end);

  changes bytes_{};
};

}  // namespace quire::program::watch
