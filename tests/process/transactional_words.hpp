// SPDX-License-Identifier: BSD-3-Clause
// Words of transactional regions, as test programs of transactions use them.
#pragma once

#include <quire/transaction.hpp>

#include "node.hpp"

namespace quire::test {

using word = std::uint64_t;
inline constexpr std::size_t page_words = 512;

inline quire_region_options transactional() {
  quire_region_options about = region_options(unit_at_least(4096), QUIRE_PLACE_MODULO, 0);
  about.consistency = QUIRE_TRANSACTIONAL;
  return about;
}

inline volatile word* make_words(const char* name, std::size_t pages) {
  auto* const at = shared_region<word>(name, pages * unit_at_least(4096), transactional());
  barrier();
  return at;
}
/// A word in a unit of its own.
inline volatile word& own_unit(volatile word* at, std::size_t i) { return at[i * unit_at_least(4096) / sizeof(word)]; }

template <class F>
void atomically(F&& f) {
  quire::atomically(f);
}

}  // namespace quire::test
