// SPDX-License-Identifier: BSD-3-Clause
#include "core/minipages/minipages.hpp"

namespace quire::core {

std::unique_ptr<layout_body> minipages::make(const layout_request& about) {
  const bool whole = about.unit_bytes == page_bytes;
  if (about.views == 0 || about.views > most_views || about.bytes % page_bytes != 0) return nullptr;
  if (!whole && !is_size(about.unit_bytes, about.views)) return nullptr;
  std::unique_ptr<minipages> made(new minipages);
  made->pages_ = about.bytes / page_bytes;
  made->views_ = about.views;
  if (!whole) {
    made->static_bytes_ = about.unit_bytes;
    return made;
  }
  int error = 0;
  made->table_bytes_ = made->pages_ * sizeof(std::uint16_t);
  made->table_ = static_cast<std::atomic<std::uint16_t>*>(os::map_table(made->table_bytes_, error));
  if (made->table_ == nullptr) return nullptr;
  return made;
}

bool minipages::divide(std::uint64_t first_page, std::uint64_t pages, std::uint64_t bytes) noexcept {
  if (table_ == nullptr || first_page > pages_ || pages > pages_ - first_page ||
      (bytes != 0 && !is_size(bytes, views_)))
    return false;
  const auto steps = static_cast<std::uint16_t>(bytes / step_bytes);
  for (std::uint64_t page = first_page; page < first_page + pages; ++page) {
    const std::uint16_t now = table_[page].load(std::memory_order_relaxed);
    if (now != 0 && now != steps) return false;
  }
  for (std::uint64_t page = first_page; page < first_page + pages; ++page)
    table_[page].store(steps, std::memory_order_release);
  return true;
}

}  // namespace quire::core
