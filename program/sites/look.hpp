// SPDX-License-Identifier: BSD-3-Clause
// The files of a program, looked at for `--memory auto`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "program/sites/verdict.hpp"

namespace quire::program::sites {

/// A file's content, for as long as this lives.
class file_bytes {
 public:
  explicit file_bytes(const char* path) noexcept;
  file_bytes(const file_bytes&) = delete;
  file_bytes& operator=(const file_bytes&) = delete;
  ~file_bytes();
  [[nodiscard]] std::span<const std::byte> get() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_{};
};

/// What stands in a program or library. `name`: as of file_code.
[[nodiscard]] file_code look_at(const decoder& by, const char* path, std::string name, wanted what = wanted::all);

}  // namespace quire::program::sites
