// SPDX-License-Identifier: BSD-3-Clause
// Files that must be there after a crash, and directories of them: one checked wrapper per system call, 0 or an errno
// comes back, nothing is logged. Writing and reading pass by the library's own interposed calls
// (src/libc), so that a buffer may lie in the engine's view of shared memory. Application threads; no two
// on one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "os/process.hpp"

namespace quire::os {

class input_file;

/// A new file, written once; or one whose content is replaced.
class output_file {
 public:
  /// EEXIST if there is one.
  [[nodiscard]] int make(const std::string& path) noexcept;
  /// What is in it stays for the present. Makes it if there is none.
  [[nodiscard]] int open(const std::string& path) noexcept;
  /// It has the content of the other one, and shares its blocks. An errno where the file system cannot do that
  /// (EOPNOTSUPP, EXDEV, EINVAL).
  [[nodiscard]] int clone(const input_file& from) noexcept;
  /// It has so many bytes; what it gains is zero.
  [[nodiscard]] int resize(std::uint64_t bytes) noexcept;
  /// Writes all of `bytes` at `offset`. After an error part of it may have been written.
  [[nodiscard]] int write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  /// Has the system begin to write what came so far to the disk, and does not wait: less is left for sync(). A hint.
  void push(std::uint64_t offset, std::uint64_t bytes) noexcept;
  /// What was written is on the disk when this returns. Closes the file.
  [[nodiscard]] int sync() noexcept;

 private:
  descriptor fd_{};
};

class input_file {
 public:
  [[nodiscard]] int open(const std::string& path) noexcept;
  [[nodiscard]] int size(std::uint64_t& bytes) const noexcept;
  /// When its content changed last, ns since 1970.
  [[nodiscard]] int changed(std::uint64_t& ns) const noexcept;
  /// Reads all of `into`. ENODATA if the file ends before.
  [[nodiscard]] int read(std::uint64_t offset, std::span<std::byte> into) const noexcept;
  [[nodiscard]] int number() const noexcept { return fd_.number(); }

 private:
  descriptor fd_{};
};

/// What this system has of the file is on the disk, or at the server, when this returns.
[[nodiscard]] int sync_file(const std::string& path) noexcept;
/// EEXIST if there is something of that name.
[[nodiscard]] int make_directory(const std::string& path) noexcept;
/// Names made, changed and removed in the directory are on the disk when this returns.
[[nodiscard]] int sync_directory(const std::string& path) noexcept;
[[nodiscard]] int rename_path(const std::string& from, const std::string& to) noexcept;
/// Removes a directory and the files in it; directories in it are not expected, and stay.
[[nodiscard]] int remove_directory(const std::string& path) noexcept;
/// Names in a directory, in no order.
[[nodiscard]] int list_directory(const std::string& path, std::vector<std::string>& names);
/// The sole right to a directory among processes that ask for it, until the descriptor closes. EWOULDBLOCK if another
/// has it; file systems that know no locks grant it.
[[nodiscard]] int lock_directory(const std::string& path, descriptor& lock) noexcept;

}  // namespace quire::os
