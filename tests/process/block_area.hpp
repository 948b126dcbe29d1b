// SPDX-License-Identifier: BSD-3-Clause
// The memory of contract_block_program: a region, and how its bytes are reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "node.hpp"

namespace quire::test {

inline constexpr std::size_t page = 4096;
using word = std::uint64_t;
using byte = std::uint8_t;

int nodes() { return quire_nodes(); }
int me() { return quire_node(); }

inline quire_region_options about(std::size_t unit, quire_placement placement);

inline std::size_t minipage_bytes = 0;  ///< of all regions, if not 0

struct area {
  quire_region region{};
  volatile byte* bytes = nullptr;
  std::size_t size = 0;
  [[nodiscard]] volatile word* words() const { return reinterpret_cast<volatile word*>(bytes); }
  /// Of a region with minipages: some in the natural view, some each in the view that shows its minipage alone.
  [[nodiscard]] volatile byte& at(std::size_t i) const {
    if (minipage_bytes == 0 || mix(i / 64 + static_cast<word>(me())) % 3 == 0) return bytes[i];
    void* alone = nullptr;
    REQUIRE_OK(quire_view(const_cast<const byte*>(bytes) + i, QUIRE_FINE, &alone));
    return *static_cast<volatile byte*>(alone);
  }
  [[nodiscard]] volatile word& word_at(std::size_t i) const {
    return reinterpret_cast<volatile word&>(at(i * sizeof(word)));
  }
  /// Of an address in any view.
  [[nodiscard]] std::size_t offset_of(const void* address) const {
    void* natural = nullptr;
    REQUIRE_OK(quire_view(address, QUIRE_NATURAL, &natural));
    return static_cast<std::size_t>(static_cast<volatile byte*>(natural) - bytes);
  }
  void begin(unsigned flags) const { REQUIRE_OK(quire_block_begin(region, flags)); }
  void end() const { REQUIRE_OK(quire_block_end(region, nullptr)); }
};

inline quire_consistency consistency = QUIRE_SEQUENTIAL;
inline quire_detector detector = QUIRE_DETECT_DEFAULT;

inline quire_region_options about(std::size_t unit, quire_placement placement) {
  quire_region_options o = region_options(minipage_bytes != 0 ? 0 : unit, placement, nodes() - 1);
  o.minipage_bytes = minipage_bytes;
  o.consistency = consistency;
  o.detector = detector;
  return o;
}

inline area make_area(const std::string& name, std::size_t size, std::size_t unit, quire_placement placement) {
  area a;
  a.bytes = shared_region<byte>(name, size, about(unit, placement));
  a.size = size;
  REQUIRE_OK(quire_region_of(const_cast<const byte*>(a.bytes), &a.region));
  barrier();
  return a;
}

}  // namespace quire::test
