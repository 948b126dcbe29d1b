// SPDX-License-Identifier: BSD-3-Clause
// A copy of private memory of this process, which may be put in its place again. Pages of nothing but zeroes take no
// memory. Application context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quire::os {

class content_copy {
 public:
  content_copy() = default;
  content_copy(content_copy&& from) noexcept;
  content_copy& operator=(content_copy&&) = delete;
  ~content_copy();

  /// Room for `bytes` (whole pages) of zeroes. 0 or errno.
  [[nodiscard]] int make(std::uint64_t bytes) noexcept;
  /// Takes what lies there, which must be mapped and readable (EFAULT). Memory that nobody has touched is not touched.
  /// 0 or errno.
  [[nodiscard]] int take(const std::byte* from, std::uint64_t bytes);
  /// One page, into its place.
  void put(std::uint64_t offset, const std::byte* page) noexcept;
  /// Its pages stand at `address` from now on, as private memory, instead of whatever is mapped there. This object is
  /// empty then. 0 or errno.
  [[nodiscard]] int move_to(void* address) noexcept;

  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Whether pages from an offset on hold anything.
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t bytes) const noexcept;

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::vector<bool> held_;  ///< by page: to look at one that holds nothing costs a fault
};

}  // namespace quire::os
