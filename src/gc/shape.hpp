// SPDX-License-Identifier: BSD-3-Clause
// Where things lie in the region of a garbage-collected heap, and how an object looks. Plain arithmetic, the same on
// all nodes.
//
//   roots      words with references, from offset 0 on, up to the end of a unit
//   slices     of consecutive units, one a node: that node allocates there. Where units are placed in blocks it manages
//              them, too
//
// An object is a header of 8 bytes and its elements behind it, which begin at a multiple of 16. Granules are the 16
// bytes by which memory is handed out: number g has the bytes 16g + 8 to 16g + 24, so that the first one of an object
// begins with its header. The last granule of a unit has 8 bytes of the next.
#pragma once

#include <algorithm>
#include <cstdint>

namespace quire::gc {

inline constexpr std::uint64_t granule_bytes = 16, header_bytes = 8;
inline constexpr std::uint64_t most_roots = 1024;
inline constexpr unsigned most_types = 1000;      ///< of a heap
inline constexpr unsigned most_references = 100;  ///< of a type, without those of other elements of an array
inline constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;  ///< of a heap

/// The 8 bytes before an object. Zero: there is none.
struct object_header {
  std::uint64_t word = 0;
  static constexpr unsigned type_bits = 16;
  [[nodiscard]] static constexpr object_header of(unsigned type, std::uint64_t length) noexcept {
    return {length << type_bits | type};
  }
  [[nodiscard]] constexpr unsigned type() const noexcept {
    return static_cast<unsigned>(word & ((1u << type_bits) - 1));
  }
  [[nodiscard]] constexpr std::uint64_t length() const noexcept { return word >> type_bits; }  ///< elements
};

/// Of an object with so many bytes of elements. 0: more than any heap has.
[[nodiscard]] constexpr std::uint64_t granules_of(std::uint64_t element_bytes, std::uint64_t length) noexcept {
  if (element_bytes == 0 || length == 0 || length > most_bytes / element_bytes) return 0;
  return (header_bytes + element_bytes * length + granule_bytes - 1) / granule_bytes;
}
/// Of the object whose elements begin at this offset of the region; and back.
[[nodiscard]] constexpr std::uint64_t granule_at(std::uint64_t offset) noexcept { return offset / granule_bytes - 1; }
[[nodiscard]] constexpr std::uint64_t header_offset(std::uint64_t granule) noexcept {
  return granule * granule_bytes + header_bytes;
}
[[nodiscard]] constexpr std::uint64_t object_offset(std::uint64_t granule) noexcept {
  return (granule + 1) * granule_bytes;
}

/// Granules `first` to `end`, without `end`.
struct granule_range {
  std::uint64_t first = 0, end = 0;
  [[nodiscard]] constexpr std::uint64_t count() const noexcept { return end - first; }
};

struct heap_shape {
  std::uint64_t bytes = 0;  ///< of the region
  std::uint64_t unit_bytes = 4096;
  unsigned nodes = 1;

  /// A region that has room for so many bytes of objects.
  [[nodiscard]] static constexpr heap_shape of(std::uint64_t wanted, std::uint64_t unit_bytes,
                                               unsigned nodes) noexcept {
    constexpr std::uint64_t least_units = 4, least_bytes = 64u << 10;
    const std::uint64_t least = std::max(least_units * unit_bytes, least_bytes) * nodes;
    const std::uint64_t data = std::max(wanted, least);
    const std::uint64_t units = (data + unit_bytes - 1) / unit_bytes + roots_units(unit_bytes);
    return {(units + nodes - 1) / nodes * nodes * unit_bytes, unit_bytes, nodes};  // slices of one size
  }
  [[nodiscard]] static constexpr std::uint64_t roots_units(std::uint64_t unit_bytes) noexcept {
    return (most_roots * sizeof(std::uint64_t) + unit_bytes - 1) / unit_bytes;
  }
  [[nodiscard]] constexpr std::uint64_t units() const noexcept { return bytes / unit_bytes; }
  [[nodiscard]] constexpr std::uint64_t granules() const noexcept { return bytes / granule_bytes - 1; }
  [[nodiscard]] constexpr std::uint64_t granules_a_unit() const noexcept { return unit_bytes / granule_bytes; }
  /// As directory::manager_map places blocks.
  [[nodiscard]] constexpr std::uint64_t slice_units() const noexcept { return (units() + nodes - 1) / nodes; }
  /// The node whose slice has a unit.
  [[nodiscard]] constexpr unsigned node_of(std::uint64_t unit) const noexcept {
    return static_cast<unsigned>(unit / slice_units());
  }
  /// The unit with the header of an object.
  [[nodiscard]] constexpr std::uint64_t unit_of(std::uint64_t granule) const noexcept {
    return header_offset(granule) / unit_bytes;
  }
  /// What a node allocates from.
  [[nodiscard]] constexpr granule_range slice(unsigned node) const noexcept {
    const std::uint64_t first = std::max(node * slice_units(), roots_units(unit_bytes));
    const std::uint64_t end = std::min((node + 1) * slice_units(), units());
    if (first >= end) return {};
    return {first * granules_a_unit(), end * granules_a_unit() - 1};
  }
  /// Some unit, of which the first granule may be used.
  [[nodiscard]] constexpr bool is_object(std::uint64_t offset) const noexcept {
    return offset % granule_bytes == 0 && offset > roots_units(unit_bytes) * unit_bytes && offset < bytes;
  }
};

}  // namespace quire::gc
