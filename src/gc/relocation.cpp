// SPDX-License-Identifier: BSD-3-Clause
#include "gc/relocation.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace quire::gc {

void evidence::add(std::uint64_t unit, unsigned node, const sharing::word_mask& words) {
  if (words.none()) return;
  const auto found = units_.find(unit);
  if (found == units_.end() && units_.size() == most_units) return;
  std::vector<written_part>& parts = found == units_.end() ? units_[unit] : found->second;
  const auto part = std::ranges::find(parts, node, &written_part::node);
  if (part == parts.end()) {
    parts.push_back({node, words});
  } else {
    part->words |= words;
  }
}

namespace {
/// The only node that writes it, if there is one.
std::optional<unsigned> writer_of(const heap_shape& shape, std::uint64_t unit, const live_object& object,
                                  std::span<const written_part> written) {
  const std::uint64_t offset = header_offset(object.granule) - unit * shape.unit_bytes;
  const sharing::word_mask words = sharing::words_under(offset, object.count * granule_bytes, shape.unit_bytes);
  std::optional<unsigned> writer;
  for (const written_part& part : written) {
    if ((part.words & words).none()) continue;
    if (writer) return std::nullopt;
    writer = part.node;
  }
  return writer;
}
}  // namespace

std::vector<wish> plan(const heap_shape& shape, std::uint64_t unit, std::span<const written_part> written,
                       std::span<const live_object> objects, unsigned home) {
  std::vector<wish> wishes;
  std::set<unsigned> writers;
  for (const live_object& object : objects) {
    const auto writer = writer_of(shape, unit, object, written);
    if (!writer) continue;
    writers.insert(*writer);
    wishes.push_back({object, *writer});
  }
  if (writers.size() < 2) return {};
  const unsigned stays = writers.contains(home) ? home : *writers.begin();
  std::erase_if(wishes, [&](const wish& w) { return w.to == stays; });
  return wishes;
}

}  // namespace quire::gc
