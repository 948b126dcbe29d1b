// SPDX-License-Identifier: BSD-3-Clause
// The content of a complete checkpoint as a store: what its nodes' files have of all regions, each grain compared with
// its checksum. What no file has was never written: zeroes. A restart checks all of it, and then fills regions from it.
// One thread at a time, none in fault context.
#pragma once

#include <vector>

#include "checkpoint/store.hpp"
#include "store/store.hpp"

namespace quire::checkpoint {

class content final : public store::store {
 public:
  /// `whole` outlives it.
  explicit content(const opened& whole);
  /// What was written. EBADMSG or the error of the system; then why() names the file.
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override;
  /// A complete checkpoint stays what it is.
  [[nodiscard]] int flush(std::uint64_t, std::span<const std::byte>) noexcept override { return EROFS; }
  [[nodiscard]] const char* name() const noexcept override { return "checkpoint"; }
  [[nodiscard]] const char* where() const noexcept override { return directory_.c_str(); }
  /// What was wrong when a fill failed last.
  [[nodiscard]] const outcome& why() const noexcept { return why_; }

 private:
  struct part {
    std::uint64_t begin = 0, end = 0;  ///< positions
    const node_reader* file = nullptr;
    std::size_t extent = 0;
  };
  const std::string& directory_;
  std::vector<part> parts_{};  ///< in order
  outcome why_{};
};

}  // namespace quire::checkpoint
