// SPDX-License-Identifier: BSD-3-Clause
// The linkers that are built in (quire/linker.h says what they do). file_linker.cpp, throttle_linker.cpp.
#pragma once

#include <quire/linker.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace quire::container {

class linker_table;

[[nodiscard]] quire_linker file_linker() noexcept;
/// Finds the linkers that it wraps in `among`, which outlasts it.
[[nodiscard]] quire_linker throttle_linker(const linker_table& among) noexcept;

/// What a throttle is told. Pure.
struct throttling {
  double bytes_per_ns = 0;  ///< 0: as fast as it goes
  std::uint64_t latency_ns = 0;
  std::uint64_t fill = 0, flush = 0, sync = 0;  ///< the first call that fails; 0: none does
  std::uint64_t times = 1;
  int error = 5;
  std::string linker{}, what{};
};
/// False: it is none.
[[nodiscard]] bool read(std::string_view text, throttling& into);

}  // namespace quire::container
