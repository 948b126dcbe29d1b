// SPDX-License-Identifier: BSD-3-Clause
// Which keys come most often, in fixed memory, with a value each (Metwally, Agrawal and El Abbadi, Efficient
// computation of frequent and top-k elements in data streams, ICDT 2005: Space-Saving): where there is no room, a new
// key takes the place of the one with the least weight, and its weight on top. So a key that comes often stays, and a
// weight is never less than how often its key came. The places of a key are eight, found by its hash, not all as in the
// paper: a few instructions. All bytes zero is the empty table. One thread at a time; fault context too: no heap, no
// lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace quire::record {

/// `Key` has operator== and hash(); `Value{}` is the value of a key that has just come.
template <class Key, class Value, std::size_t Places>
class frequent {
 public:
  struct place {
    Key key;
    std::uint64_t weight;  ///< 0: free
    Value value;
  };

  /// The value of a key, which has come once more. What was counted for the key that had the place is gone with it.
  [[nodiscard]] Value& at(const Key& key) noexcept {
    place* least = nullptr;
    const std::size_t first = static_cast<std::size_t>(key.hash() % Places);
    for (std::size_t i = 0; i < looked_at; ++i) {
      place& p = places_[(first + i) % Places];
      if (p.weight != 0 && p.key == key) return ++p.weight, p.value;
      if (least == nullptr || p.weight < least->weight) least = &p;
    }
    least->key = key;
    ++least->weight;
    least->value = Value{};
    return least->value;
  }

  /// Calls f(place) for each key.
  template <class F>
  void for_each(F&& f) const {
    for (const place& p : places_)
      if (p.weight != 0) f(p);
  }

 private:
  static constexpr std::size_t looked_at = 8;
  static_assert(Places >= looked_at);
  std::array<place, Places> places_;
};

/// Of words, for keys.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace quire::record
