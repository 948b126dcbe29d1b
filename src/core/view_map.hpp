// SPDX-License-Identifier: BSD-3-Clause
// Where the views of a region lie (Millipage, section 2.1): ranges of addresses for the same pages, one behind the
// other. View 0 is the natural one, in which the region is contiguous. Fine views come behind it: each maps all pages,
// and shows one unit of each page. A value, pure; safe in a signal handler.
#pragma once

#include <cstdint>

namespace quire::core {

class view_map {
 public:
  static constexpr std::uint64_t page_bytes = 4096;
  /// Of a region of `bytes`, with so many fine views.
  view_map() = default;
  view_map(std::uint64_t bytes, unsigned fine) noexcept : bytes_(bytes), stride_(bytes + skew), fine_(fine) {}

  [[nodiscard]] unsigned fine() const noexcept { return fine_; }
  /// From one view to the next.
  [[nodiscard]] std::uint64_t stride() const noexcept { return stride_; }
  /// Addresses that all views take.
  [[nodiscard]] std::uint64_t span() const noexcept { return fine_ * stride_ + bytes_; }

  struct place {
    unsigned view = 0;
    std::uint64_t offset = 0;  ///< in the region
  };
  /// Of an address `distance` behind the first one. In the gap between two views its offset is none of the region.
  [[nodiscard]] place of(std::uint64_t distance) const noexcept {
    if (fine_ == 0) return {0, distance};
    return {static_cast<unsigned>(distance / stride_), distance % stride_};
  }
  [[nodiscard]] bool has(std::uint64_t distance) const noexcept {
    return distance < span() && of(distance).offset < bytes_;
  }
  /// The other way.
  [[nodiscard]] std::uint64_t distance(const place& at) const noexcept { return at.view * stride_ + at.offset; }

 private:
  /// Were the views at round distances, the same byte of all of them would lie in one set of the caches' and the TLB's
  /// index.
  static constexpr std::uint64_t skew = 9 * page_bytes;

  std::uint64_t bytes_ = 0, stride_ = 0;
  unsigned fine_ = 0;
};

}  // namespace quire::core
