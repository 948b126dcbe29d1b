// SPDX-License-Identifier: BSD-3-Clause
// A node's part of marking. It marks the objects whose headers lie in units that it keeps. A reference to another
// object goes to the node that keeps that one's header; a part of an object that lies in units of another node is a
// section, which that node looks through. So nobody needs a unit that it does not keep, and no page moves. Bits are set
// for all granules of an object, so that what is free can be told from the bits alone.
//
// Pure: content is where `memory` says, messages leave by an outlet. One application thread of a node, while content is
// held still (core/hold.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "gc/bitmap.hpp"
#include "gc/items.hpp"
#include "gc/shape.hpp"
#include "gc/types.hpp"

namespace quire::gc {

/// Content of the heap, as far as this node keeps it.
struct memory {
  const std::byte* base = nullptr;  ///< offset 0, in memory
  /// Units that are elsewhere, by number: copies of them.
  std::unordered_map<std::uint64_t, const std::byte*> away{};
};

/// What was wrong with a reference.
struct bad_reference {
  std::uint64_t at = 0;     ///< offset of the field; 0: it is a root, or was sent by another node
  std::uint64_t value = 0;  ///< what it refers to
  unsigned type = 0;        ///< of the object with the field
};

class marker {
 public:
  /// `base`: the address of the region. All of these last as long as the marker.
  marker(const heap_shape& shape, std::uint64_t base, unsigned self, const type_table& types, const memory& content,
         outlet& out);

  // First: who keeps what. Units that nobody names are kept by the node of their slice, where they are zero unless it
  // says otherwise.
  /// This node keeps units whose content may differ from zero.
  void keep(std::uint64_t first, std::uint64_t count);
  /// Tells others of what this node keeps of their slices. Counts and sends as all messages.
  void tell_kept();
  void on_kept(unsigned node, std::span<const std::byte> content);

  // Then marking.
  /// A reference that lies in no object.
  void add_root(std::uint64_t value) { visit(value, 0, 0); }
  /// Looks at so many objects at most. False: there is nothing to do. Then everything has been sent.
  bool work(std::uint64_t objects);
  void on_references(std::span<const std::byte> content);
  void on_sections(std::span<const std::byte> content);

  // Afterwards.
  /// Sends what is live in the slices of others; what is in this node's own is in live().
  void tell_live();
  void on_live(std::span<const std::byte> content);
  /// Of the whole region: of this node's slice everything, once all have told.
  [[nodiscard]] const bitmap& live() const noexcept { return live_; }
  /// Of this node's slice, from its first granule on: for slice_allocator::adopt().
  [[nodiscard]] bitmap live_of_slice() const;
  [[nodiscard]] std::uint64_t marked() const noexcept { return marked_; }
  [[nodiscard]] std::uint64_t marked_granules() const noexcept { return marked_granules_; }
  [[nodiscard]] const std::vector<bad_reference>& bad() const noexcept { return bad_; }
  [[nodiscard]] std::uint64_t bad_count() const noexcept { return bad_count_; }
  /// Calls f(granule, header) for each object that this node has marked, in units `first` to `end`.
  template <class F>
  void for_each_marked(std::uint64_t first_unit, std::uint64_t end_unit, F&& f) const;
  /// Calls f(offset) for each word of a reference that this node has looked at: in objects that it marked, and in
  /// sections.
  template <class F>
  void for_each_field(F&& f) const;
  /// Of a unit that this node keeps.
  [[nodiscard]] std::uint64_t word_at(std::uint64_t offset) const noexcept {
    return *reinterpret_cast<const std::uint64_t*>(at(offset));
  }
  [[nodiscard]] bool keeps(std::uint64_t unit) const noexcept { return keepers_[unit] == self_ && here_.test(unit); }

 private:
  struct section {
    std::uint64_t granule = 0, first = 0, bytes = 0;
    unsigned type = 0;
  };
  struct outgoing {
    std::vector<std::uint64_t> references{};
    packer sections{}, live{};
    std::uint64_t live_end = 0;
  };

  void visit(std::uint64_t value, std::uint64_t at, unsigned type);
  void mark(std::uint64_t granule);
  void look_through(std::uint64_t granule, unsigned number, const type_table::type& type, std::uint64_t first,
                    std::uint64_t bytes);
  void look_through_unit(std::uint64_t granule, unsigned number, const type_table::type& type, std::uint64_t first,
                         std::uint64_t end);
  template <class F>
  static void for_each_offset(const type_table::type& type, std::uint64_t first, std::uint64_t end, F&& f);
  void send_references(unsigned node);
  void send_section(unsigned node, const section& part);
  void flush();
  void complain(const bad_reference& what);
  void add_live(unsigned node, std::uint64_t first, std::uint64_t count);
  [[nodiscard]] const std::byte* at(std::uint64_t offset) const noexcept {
    if (content_.away.empty()) [[likely]]
      return content_.base + offset;
    const auto found = content_.away.find(offset / shape_.unit_bytes);
    return found == content_.away.end() ? content_.base + offset : found->second + offset % shape_.unit_bytes;
  }
  heap_shape shape_;
  std::uint64_t base_;
  unsigned self_, unit_shift_;
  std::uint16_t self_keeper_;
  const type_table& types_;
  const memory& content_;
  outlet& out_;
  std::vector<std::uint16_t> keepers_;    ///< by unit
  bitmap here_;                           ///< by unit: it may differ from zero, and this node keeps it
  bitmap seen_;                           ///< first granules of objects that this node has met
  bitmap live_;                           ///< granules of objects that this node has marked
  std::vector<std::uint64_t> waiting_{};  ///< objects to look at
  static constexpr std::size_t ahead = 8;
  std::array<std::uint64_t, ahead> next_{};  ///< of them, those whose headers are on their way to the cache
  std::size_t next_at_ = 0, next_count_ = 0;
  std::vector<outgoing> to_;
  std::vector<section> sections_{};  ///< that this node has looked through for others
  std::uint64_t marked_ = 0, marked_granules_ = 0, bad_count_ = 0;
  std::vector<bad_reference> bad_{};
};

template <class F>
void marker::for_each_offset(const type_table::type& type, std::uint64_t first, std::uint64_t end, F&& f) {
  for (std::uint64_t element = first / type.bytes * type.bytes; element < end; element += type.bytes) {
    for (const std::uint32_t offset : type.offsets) {
      const std::uint64_t field = element + offset;
      if (field >= first && field < end) f(field);
    }
  }
}

template <class F>
void marker::for_each_marked(std::uint64_t first_unit, std::uint64_t end_unit, F&& f) const {
  // The header of granule g lies in the unit of byte 16g + 8.
  const std::uint64_t each = shape_.granules_a_unit(), end = std::min(end_unit * each, shape_.granules());
  for (std::uint64_t g = seen_.next_set(first_unit * each, end); g < end; g = seen_.next_set(g + 1, end)) {
    const std::uint64_t unit = g / each;
    if (!keeps(unit)) {
      g = unit * each + each - 1;
      continue;
    }
    if (live_.test(g)) f(g, object_header{word_at(header_offset(g))});
  }
}

template <class F>
void marker::for_each_field(F&& f) const {
  const auto look = [&](std::uint64_t granule, const type_table::type& type, std::uint64_t first, std::uint64_t end) {
    for_each_offset(type, first, end, [&](std::uint64_t field) {
      const std::uint64_t offset = object_offset(granule) + field;
      if (keeps(offset / shape_.unit_bytes)) f(offset);
    });
  };
  for_each_marked(0, shape_.units(), [&](std::uint64_t granule, object_header header) {
    const type_table::type* const type = types_.find(header.type());
    if (type != nullptr && !type->offsets.empty()) look(granule, *type, 0, header.length() * type->bytes);
  });
  for (const section& s : sections_) look(s.granule, *types_.find(s.type), s.first, s.first + s.bytes);
}

}  // namespace quire::gc
