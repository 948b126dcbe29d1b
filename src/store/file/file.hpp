// SPDX-License-Identifier: BSD-3-Clause
// A file of the system, which keeps the content of a region beyond the job: byte i of the region is byte i of the file. Beyond its end a region has zeroes,
// and what is there is not written: a file does not grow by the rest of a unit. Only resize() changes the length: what was flushed beyond before has to be
// flushed again (core::stored_units::grow() sees to that).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>

#include "store/store.hpp"

namespace quire::store {

class file final : public store {
 public:
  enum class way : std::uint8_t {
    read,    ///< flush() gives EROFS
    write,   ///< of a file that is there
    create,  ///< or comes to be, with no bytes
  };
  /// Null, with errno in `error`: EINVAL also of what is no regular file. Application thread.
  [[nodiscard]] static std::unique_ptr<file> open(const std::string& path, way how, int& error);
  ~file() override;

  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override;
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override;
  [[nodiscard]] int sync() noexcept override;
  /// From the page cache, where the file system tells.
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override;
  [[nodiscard]] const char* name() const noexcept override { return "file"; }
  /// Its path, as it was opened.
  [[nodiscard]] const char* where() const noexcept override { return path_.c_str(); }

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_.load(std::memory_order_relaxed); }
  /// 0 or errno. What is flushed meanwhile comes before or afterwards, so that no flush makes the file longer again.
  [[nodiscard]] int resize(std::uint64_t bytes) noexcept override;

 private:
  file(std::string path, int descriptor, std::uint64_t bytes, bool writable)
      : path_(std::move(path)), descriptor_(descriptor), writable_(writable), bytes_(bytes) {}

  std::string path_;
  int descriptor_;
  bool writable_;
  std::atomic<std::uint64_t> bytes_;
  std::shared_mutex resizing_{};  ///< shared by those who flush
};

}  // namespace quire::store
