// SPDX-License-Identifier: BSD-3-Clause
// The layout of minipages (Millipage): units smaller than a page. All units of one page have one size, so that a table
// of two bytes a page says where a unit lies, and no fault asks anybody. Each page has `views` numbers of units, used
// or not:
//
//   unit = page * views + i      bytes [i * size, (i + 1) * size) of the page, shown by fine view i + 1
//   unit = page * views          all of the page, shown by the natural view, where the page is not divided
//
// Numbers that a page does not use are units of 0 bytes, which nobody touches. What is left at a page's end belongs to
// its last unit. A page is divided once, and before anybody uses it (static layout: from the start; dynamic layout:
// divide()).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/layouts.hpp"
#include "os/memory.hpp"

namespace quire::core {

class minipages final : public layout_body {
 public:
  static constexpr std::uint64_t page_bytes = 4096, step_bytes = 16, most_divided_bytes = page_bytes / 2;
  static constexpr unsigned most_views = 256;

  /// A region with `about.unit_bytes` a unit: less than a page for the static layout; a page for the dynamic one, where
  /// pages are whole until they are divided. Null for what is no such region, or without memory.
  [[nodiscard]] static std::unique_ptr<layout_body> make(const layout_request& about);
  ~minipages() override { os::unmap(table_, table_bytes_); }
  minipages(const minipages&) = delete;
  minipages& operator=(const minipages&) = delete;

  /// Whether pages can have units of so many bytes, if there are so many views.
  [[nodiscard]] static constexpr bool is_size(std::uint64_t bytes, unsigned views) noexcept {
    return bytes >= step_bytes && bytes % step_bytes == 0 && bytes <= most_divided_bytes && page_bytes / bytes <= views;
  }

  [[nodiscard]] std::uint64_t units() const noexcept override { return pages_ * views_; }
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t offset) const noexcept override {
    const std::uint64_t page = offset / page_bytes, bytes = bytes_of_page(page);
    if (bytes == 0) return page * views_;
    const std::uint64_t at = offset % page_bytes / bytes, last = page_bytes / bytes - 1;
    return page * views_ + (at < last ? at : last);
  }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t unit) const noexcept override {
    const std::uint64_t page = unit / views_, i = unit % views_;
    if (i == 0) return page * page_bytes;
    const std::uint64_t bytes = page < pages_ ? bytes_of_page(page) : 0;
    return bytes != 0 && i < page_bytes / bytes ? page * page_bytes + i * bytes : (page + 1) * page_bytes;
  }
  [[nodiscard]] std::uint64_t most_bytes() const noexcept override { return page_bytes; }
  [[nodiscard]] unsigned units_a_page() const noexcept override { return views_; }
  [[nodiscard]] unsigned view_of(std::uint64_t unit) const noexcept override {
    return bytes_of_page(unit / views_) == 0 ? 0 : static_cast<unsigned>(unit % views_) + 1;
  }

  /// Of the units of a page; 0: it is one unit. Any thread.
  [[nodiscard]] std::uint64_t bytes_of_page(std::uint64_t page) const noexcept {
    return table_ == nullptr ? static_bytes_ : std::uint64_t{table_[page].load(std::memory_order_acquire)} * step_bytes;
  }
  /// Dynamic layout: these pages, which nobody has used, have units of so many bytes from now on (is_size()); 0: they
  /// stay whole. Before any node is told an address of them, on all nodes. Any thread. False if that cannot be, and
  /// nothing has changed: some page is divided otherwise already.
  [[nodiscard]] bool divide(std::uint64_t first_page, std::uint64_t pages, std::uint64_t bytes) noexcept;

 private:
  minipages() = default;

  std::uint64_t pages_ = 0, static_bytes_ = 0;
  unsigned views_ = 1;
  std::atomic<std::uint16_t>* table_ = nullptr;  ///< sizes in steps, by page; null: static
  std::uint64_t table_bytes_ = 0;
};

namespace layouts {
inline constexpr layout_row divided{.id = 1, .name = "minipages", .make = minipages::make};
}  // namespace layouts

}  // namespace quire::core
