// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/content.hpp"

#include <algorithm>
#include <cstring>

namespace quire::checkpoint {

content::content(const opened& whole) : directory_(whole.directory()) {
  const manifest& m = whole.about();
  for (const node_reader& file : whole.files()) {
    for (std::size_t i = 0; i < file.extents().size(); ++i) {
      const extent& e = file.extents()[i];
      const auto row =
          std::find_if(m.regions.begin(), m.regions.end(), [&](const region_row& r) { return r.id == e.region; });
      const std::uint64_t region = row->base - m.base;
      parts_.push_back({region + e.first, region + e.end(), &file, i});
    }
  }
  std::sort(parts_.begin(), parts_.end(), [](const part& a, const part& b) { return a.begin < b.begin; });
}

int content::fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  auto next = std::upper_bound(parts_.begin(), parts_.end(), at,
                               [](std::uint64_t position, const part& p) { return position < p.end; });
  for (; !into.empty(); ++next) {
    const std::uint64_t end = at + into.size();
    const std::uint64_t begin = next != parts_.end() ? std::clamp(next->begin, at, end) : end;
    std::memset(into.data(), 0, begin - at);
    into = into.subspan(begin - at);
    at = begin;
    if (into.empty()) return 0;
    const std::uint64_t bytes = std::min(next->end, end) - at;
    why_ = next->file->read(next->extent, at - next->begin, into.first(bytes));
    if (!why_.ok()) return why_.code == QUIRE_DAMAGED ? EBADMSG : EIO;
    into = into.subspan(bytes);
    at += bytes;
  }
  return 0;
}

}  // namespace quire::checkpoint
