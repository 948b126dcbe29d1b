// SPDX-License-Identifier: BSD-3-Clause
#include "core/block.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "base/copy_words.hpp"

namespace quire::core {

namespace {
/// Which of `bytes` (64 at most) differ.
std::uint64_t changes(const std::byte* copy, const std::byte* base, std::size_t bytes) noexcept {
  if (std::memcmp(copy, base, bytes) == 0) return 0;
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < bytes; ++i) mask |= std::uint64_t{copy[i] != base[i]} << i;
  return mask;
}
}  // namespace

void byte_ranges::add(std::uint64_t first, std::uint64_t end) {
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin() && std::prev(at)->second >= first) --at;
  while (at != ranges_.end() && at->first <= end) {
    first = std::min(first, at->first);
    end = std::max(end, at->second);
    at = ranges_.erase(at);
  }
  ranges_.emplace(first, end);
}

block_merge::writer& block_merge::writer_of(unit_merge& u, model::node_id node) {
  for (writer& w : u.writers) {
    if (w.node == node) return w;
  }
  return u.writers.emplace_back(writer{node, base::fault_vector<std::uint64_t>((u.merged.size() + 63) / 64)});
}

/// Remembers what of a part of the unit `node` changed, and tells where others did so before.
void block_merge::note(std::uint64_t unit, unit_merge& u, std::size_t offset, model::node_id node,
                       const std::byte* copy, const std::byte* base, std::size_t bytes) {
  (void)writer_of(u, node);
  base::fault_vector<bool> told(u.writers.size());
  for (std::size_t at = offset; at < offset + bytes;) {
    const std::size_t line = at / 64, within = at % 64;
    const std::size_t count = std::min(64 - within, offset + bytes - at);
    const std::uint64_t mask = changes(copy + (at - offset), base + (at - offset), count) << within;
    at += count;
    for (std::size_t i = 0; mask != 0 && i < u.writers.size(); ++i) {
      writer& w = u.writers[i];
      if (w.node == node) {
        w.changed[line] |= mask;
      } else if (const std::uint64_t both = w.changed[line] & mask; both != 0 && !told[i]) {
        told[i] = true;
        const auto first = static_cast<std::size_t>(__builtin_ctzll(both));
        const auto [a, b] = std::minmax(w.node, node, [](auto x, auto y) { return x.value() < y.value(); });
        keep({layout_.offset_of(unit) + line * 64 + first, a, b});
      }
    }
  }
}

void block_merge::keep(const overlap& o) {
  ++count_;
  found_.insert(std::upper_bound(found_.begin(), found_.end(), o), o);
  if (found_.size() > most_kept) found_.pop_back();
}

bool block_merge::add(std::uint64_t unit, std::size_t offset, model::node_id node, std::span<const std::byte> data,
                      bool raw, const std::byte* base) {
  unit_merge& u = units_[unit];
  if (u.merged.empty()) u.merged.assign(base, base + layout_.bytes_of(unit));
  std::byte* const merged = u.merged.data() + offset;
  base += offset;
  if (raw) {  // what is as it was before is not written, unless it was
    note(unit, u, offset, node, data.data(), base, data.size());
    const writer& own = writer_of(u, node);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::size_t at = offset + i;
      if ((own.changed[at / 64] >> at % 64 & 1) != 0) merged[i] = data[i];
    }
    return true;
  }
  std::array<std::byte, page_bytes> copy;
  const std::size_t bytes = std::min(page_bytes, u.merged.size() - offset);
  std::memcpy(copy.data(), base, bytes);
  if (!codec_.apply(data, std::span(copy).first(bytes))) return false;
  note(unit, u, offset, node, copy.data(), base, bytes);
  return codec_.apply(data, {merged, bytes});
}

void block_merge::finish(std::uint64_t unit, model::node_id home, std::byte* content, const std::byte* base) {
  const auto found = units_.find(unit);
  if (found == units_.end()) return;
  unit_merge& u = found->second;
  const std::size_t unit_bytes = u.merged.size();
  if (base != nullptr) {
    for (std::size_t offset = 0; offset < unit_bytes; offset += page_bytes) {
      note(unit, u, offset, home, content + offset, base + offset, std::min(page_bytes, unit_bytes - offset));
    }
    const writer& own = writer_of(u, home);
    for (std::size_t at = 0; at < unit_bytes; ++at) {
      if ((own.changed[at / 64] >> at % 64 & 1) != 0) u.merged[at] = content[at];
    }
  }
  base::copy_words(content, u.merged.data(), unit_bytes);
  units_.erase(found);
}

}  // namespace quire::core
