// SPDX-License-Identifier: BSD-3-Clause
// What is zero because nobody has ever written it: to clear a large mapping costs what the program has used of it.
#pragma once

#include <quire/system.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "program/posix/heap/shared_pages.hpp"

namespace quire::program {

/// From here on it is worth a question to each node.
inline constexpr std::size_t least_worth_asking = std::size_t{1} << 20;

/// Of whole pages in one region, those that may differ from zero on some node (quire_pages_written()). False: not
/// known.
[[nodiscard]] bool find_written(const void* at, std::size_t bytes, quire_pages& found) noexcept;

/// use(first, bytes, written) for runs of pages that are, or are not, until it says false. Where it is not known, or
/// not worth a question, all are. What it said last.
template <class Use>
bool for_each_written(void* at, std::size_t bytes, const Use& use) noexcept {
  auto* const first = static_cast<char*>(at);
  constexpr std::size_t told = QUIRE_PAGES_TOLD * mapped_page;
  for (std::size_t done = 0; done < bytes;) {
    quire_pages found;
    if (bytes - done < least_worth_asking || !find_written(first + done, bytes - done, found))
      return use(first + done, bytes - done, true);
    const std::size_t end = done + (found.next < told ? std::min(told, bytes - done) : std::size_t{found.next});
    for (std::size_t run = done; run < end;) {
      const auto is_written = [&](std::size_t page) {
        const std::size_t i = (page - done) / mapped_page;
        return found.next < told && (found.bits[i / 64] >> i % 64 & 1) != 0;
      };
      const bool written = is_written(run);
      std::size_t stop = found.next < told ? run : end;
      while (stop < end && is_written(stop) == written) stop += mapped_page;
      if (!use(first + run, stop - run, written)) return false;
      run = stop;
    }
    done = end;
  }
  return true;
}

}  // namespace quire::program
