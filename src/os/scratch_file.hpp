// SPDX-License-Identifier: BSD-3-Clause
// A file for what does not fit into memory: without a name, sparse, gone with the process. Several threads at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace quire::os {

class scratch_file {
 public:
  /// The file is made in `directory` by the first write.
  explicit scratch_file(std::string directory) : directory_(std::move(directory)) {}
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file();
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  /// Writes all of `bytes` at `offset`. 0 or errno (ENOSPC: the disk is full); then part of it may have been written.
  [[nodiscard]] int write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  /// Reads what was written there. 0 or errno; EIO if the file ends before.
  [[nodiscard]] int read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;
  /// The same if the kernel has it in memory, and says so; else EAGAIN.
  [[nodiscard]] int try_read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;

  /// What was written there is needed no longer.
  void forget(std::uint64_t offset, std::uint64_t bytes) noexcept;

 private:
  [[nodiscard]] int open_file() noexcept;
  std::string directory_;
  std::atomic<int> fd_{-1};
};

}  // namespace quire::os
