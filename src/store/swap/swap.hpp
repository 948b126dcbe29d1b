// SPDX-License-Identifier: BSD-3-Clause
// The page-out file: content of regions that have no store of their own, while a node is short of memory. One sparse
// file without a name, made by the first flush, gone with the process.
#pragma once

#include "os/scratch_file.hpp"
#include "store/store.hpp"

namespace quire::store {

class swap final : public store {
 public:
  static const row the_row;

  explicit swap(const settings& how);
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override { return file_.read(at, into); }
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override {
    return file_.write(at, from);
  }
  /// From the page cache.
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    return file_.try_read(at, into);
  }
  void forget(std::uint64_t at, std::uint64_t bytes) noexcept override { file_.forget(at, bytes); }
  [[nodiscard]] const char* name() const noexcept override { return "page-out file"; }
  [[nodiscard]] const char* where() const noexcept override { return file_.directory().c_str(); }

 private:
  os::scratch_file file_;
};

}  // namespace quire::store
