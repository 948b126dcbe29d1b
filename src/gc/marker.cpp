// SPDX-License-Identifier: BSD-3-Clause
#include "gc/marker.hpp"

#include <algorithm>
#include <bit>

namespace quire::gc {

namespace {
constexpr std::size_t batch = 400;    ///< references for a node that are gathered
constexpr std::size_t most_told = 8;  ///< bad references that are kept
}  // namespace

marker::marker(const heap_shape& shape, std::uint64_t base, unsigned self, const type_table& types,
               const memory& content, outlet& out)
    : shape_(shape),
      base_(base),
      self_(self),
      unit_shift_(static_cast<unsigned>(std::countr_zero(shape.unit_bytes))),
      self_keeper_(static_cast<std::uint16_t>(self)),
      types_(types),
      content_(content),
      out_(out),
      keepers_(shape.units()),
      here_(shape.units()),
      seen_(shape.granules()),
      live_(shape.granules()),
      to_(shape.nodes) {
  for (std::uint64_t unit = 0; unit < shape.units(); ++unit)
    keepers_[unit] = static_cast<std::uint16_t>(shape.node_of(unit));
}

void marker::keep(std::uint64_t first, std::uint64_t count) {
  here_.fill(first, count);
  std::fill_n(keepers_.begin() + static_cast<std::ptrdiff_t>(first), count, self_keeper_);
}

void marker::tell_kept() {
  packer told;
  std::uint64_t end = 0;
  const auto send = [&] {
    for (unsigned node = 0; node < shape_.nodes; ++node) {
      if (node != self_) out_.send(node, item::kept, told.content());
    }
    told.clear();
  };
  here_.for_each_run(0, shape_.units(), [&](std::uint64_t first, std::uint64_t count) {
    // What lies in the own slice is known.
    const std::uint64_t own = self_ * shape_.slice_units(), own_end = own + shape_.slice_units();
    const auto tell = [&](std::uint64_t from, std::uint64_t to) {
      if (from >= to) return;
      if (!told.add(from - end, to - from)) {
        send();
        end = 0;
        (void)told.add(from - end, to - from);
      }
      end = to;
    };
    tell(first, std::min(first + count, std::max(first, own)));
    tell(std::max(first, std::min(first + count, own_end)), first + count);
  });
  if (!told.empty()) send();
}

void marker::on_kept(unsigned node, std::span<const std::byte> content) {
  std::uint64_t at = 0, skip = 0, count = 0;
  for (unpacker all(content); all.more();) {
    if (!all.take(skip, count)) return;
    at += skip;
    if (at > shape_.units() || count > shape_.units() - at) return;
    std::fill_n(keepers_.begin() + static_cast<std::ptrdiff_t>(at), count, static_cast<std::uint16_t>(node));
    at += count;
  }
}

void marker::complain(const bad_reference& what) {
  ++bad_count_;
  if (bad_.size() < most_told) bad_.push_back(what);
}

/// A reference in a field at offset `at`, or 0, of an object of this type.
inline void marker::visit(std::uint64_t value, std::uint64_t field, unsigned type) {
  if (value == 0) return;
  const std::uint64_t offset = value - base_;
  if (!shape_.is_object(offset)) [[unlikely]]
    return complain({field, value, type});
  const std::uint64_t granule = granule_at(offset);
  if (seen_.test_and_set(granule)) return;
  const std::uint16_t keeper = keepers_[header_offset(granule) >> unit_shift_];
  if (keeper == self_keeper_) [[likely]] {
    waiting_.push_back(granule);
    return;
  }
  std::vector<std::uint64_t>& references = to_[keeper].references;
  references.push_back(granule);
  if (references.size() >= batch) send_references(keeper);
}

void marker::mark(std::uint64_t granule) {
  const std::uint64_t offset = header_offset(granule);
  const object_header header{here_.test(offset >> unit_shift_) ? word_at(offset) : 0};
  const type_table::type* const type = types_.find(header.type());
  const std::uint64_t count = type != nullptr ? granules_of(type->bytes, header.length()) : 0;
  if (count == 0 || count > shape_.granules() - granule) [[unlikely]]
    return complain({0, base_ + object_offset(granule), 0});
  live_.fill(granule, count);
  ++marked_;
  marked_granules_ += count;
  if (type->offsets.empty()) return;
  const std::uint64_t begin = offset + header_bytes;
  if (header.length() == 1 && (offset ^ (begin + type->bytes - 1)) >> unit_shift_ == 0) [[likely]] {
    const std::byte* const element = at(begin);
    for (const std::uint32_t field : type->offsets)
      visit(*reinterpret_cast<const std::uint64_t*>(element + field), begin + field, header.type());
    return;
  }
  look_through(granule, header.type(), *type, 0, type->bytes * header.length());
}

void marker::look_through(std::uint64_t granule, unsigned number, const type_table::type& type, std::uint64_t first,
                          std::uint64_t bytes) {
  const std::uint64_t begin = object_offset(granule), end = first + bytes;
  section elsewhere;  // of one node, while it grows
  const auto send = [&] {
    if (elsewhere.bytes != 0) send_section(keepers_[(begin + elsewhere.first) >> unit_shift_], elsewhere);
    elsewhere = {};
  };
  while (first < end) {
    const std::uint64_t unit = (begin + first) >> unit_shift_,
                        unit_end = std::min(end, ((unit + 1) << unit_shift_) - begin);
    if (keepers_[unit] == self_keeper_) {
      if (here_.test(unit)) look_through_unit(granule, number, type, first, unit_end);
    } else if (elsewhere.bytes != 0 && elsewhere.first + elsewhere.bytes == first &&
               keepers_[(begin + elsewhere.first) >> unit_shift_] == keepers_[unit]) {
      elsewhere.bytes = unit_end - elsewhere.first;
    } else {
      send();
      elsewhere = {granule, first, unit_end - first, number};
    }
    first = unit_end;
  }
  send();
}

/// Bytes of the elements that lie in one unit, which is here.
void marker::look_through_unit(std::uint64_t granule, unsigned number, const type_table::type& type,
                               std::uint64_t first, std::uint64_t end) {
  const std::uint64_t begin = object_offset(granule);
  const std::byte* const elements = at(begin + first) - first;
  for_each_offset(type, first, end, [&](std::uint64_t field) {
    visit(*reinterpret_cast<const std::uint64_t*>(elements + field), begin + field, number);
  });
}

bool marker::work(std::uint64_t objects) {
  for (; objects != 0; --objects) {
    while (next_count_ < ahead && !waiting_.empty()) {
      const std::uint64_t granule = waiting_.back();
      waiting_.pop_back();
      __builtin_prefetch(content_.base + header_offset(granule));
      next_[(next_at_ + next_count_++) % ahead] = granule;
    }
    if (next_count_ == 0) {
      flush();
      return false;
    }
    const std::uint64_t granule = next_[next_at_];
    next_at_ = (next_at_ + 1) % ahead;
    --next_count_;
    mark(granule);
  }
  return true;
}

void marker::flush() {
  for (unsigned node = 0; node < shape_.nodes; ++node) {
    if (!to_[node].references.empty()) send_references(node);
    if (packer& sections = to_[node].sections; !sections.empty()) {
      out_.send(node, item::sections, sections.content());
      sections.clear();
    }
  }
}

void marker::send_references(unsigned node) {
  std::vector<std::uint64_t>& all = to_[node].references;
  std::sort(all.begin(), all.end());
  packer told;
  std::uint64_t before = 0;
  for (const std::uint64_t granule : all) {
    if (!told.add(granule - before)) {
      out_.send(node, item::references, told.content());
      told.clear();
      (void)told.add(granule);
    }
    before = granule;
  }
  if (!told.empty()) out_.send(node, item::references, told.content());
  all.clear();
}

void marker::send_section(unsigned node, const section& part) {
  packer& sections = to_[node].sections;
  if (sections.add(part.granule, std::uint64_t{part.type}, part.first, part.bytes)) return;
  out_.send(node, item::sections, sections.content());
  sections.clear();
  (void)sections.add(part.granule, std::uint64_t{part.type}, part.first, part.bytes);
}

void marker::on_references(std::span<const std::byte> content) {
  std::uint64_t granule = 0, distance = 0;
  for (unpacker all(content); all.more();) {
    if (!all.take(distance)) return;
    granule += distance;
    if (granule >= shape_.granules()) return;
    if (!seen_.test_and_set(granule)) waiting_.push_back(granule);
  }
}

void marker::on_sections(std::span<const std::byte> content) {
  std::uint64_t granule = 0, number = 0, first = 0, bytes = 0;
  for (unpacker all(content); all.more();) {
    if (!all.take(granule, number, first, bytes)) return;
    const type_table::type* const type = types_.find(static_cast<unsigned>(number));
    if (type == nullptr) {  // it was registered while the heap was collected: what it refers to would be lost
      complain({0, object_offset(granule), static_cast<unsigned>(number)});
      continue;
    }
    if (granule >= shape_.granules() || first > shape_.bytes || bytes > shape_.bytes - first) return;
    if (object_offset(granule) + first + bytes > shape_.bytes) return;
    sections_.push_back({granule, first, bytes, static_cast<unsigned>(number)});
    look_through(granule, static_cast<unsigned>(number), *type, first, bytes);
  }
}

void marker::add_live(unsigned node, std::uint64_t first, std::uint64_t count) {
  outgoing& to = to_[node];
  if (!to.live.add(first - to.live_end, count)) {
    out_.send(node, item::live, to.live.content());
    to.live.clear();
    (void)to.live.add(first, count);
  }
  to.live_end = first + count;
}

void marker::tell_live() {
  for (unsigned node = 0; node < shape_.nodes; ++node) {
    if (node == self_) continue;
    const granule_range slice = shape_.slice(node);
    live_.for_each_run(slice.first, slice.end,
                       [&](std::uint64_t first, std::uint64_t count) { add_live(node, first, count); });
    if (packer& live = to_[node].live; !live.empty()) {
      out_.send(node, item::live, live.content());
      live.clear();
    }
  }
}

void marker::on_live(std::span<const std::byte> content) {
  std::uint64_t at = 0, skip = 0, count = 0;
  for (unpacker all(content); all.more();) {
    if (!all.take(skip, count)) return;
    at += skip;
    if (at > shape_.granules() || count > shape_.granules() - at) return;
    live_.fill(at, count);
    at += count;
  }
}

bitmap marker::live_of_slice() const {
  const granule_range slice = shape_.slice(self_);
  bitmap own(slice.count());
  live_.for_each_run(slice.first, slice.end,
                     [&](std::uint64_t first, std::uint64_t count) { own.fill(first - slice.first, count); });
  return own;
}

}  // namespace quire::gc
