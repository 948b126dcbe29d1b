// SPDX-License-Identifier: BSD-3-Clause
// A core file of nothing but memory (ELF, one PT_LOAD a run of pages), for gdb and readelf: `gdb program -c FILE`,
// then `x/8gx ADDRESS`.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace quire::split {

struct memory_run {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// Writes runs of this process's memory, in order of address, to a new file that only its owner may read. 0 or errno;
/// then nothing is left. Not for fault context.
[[nodiscard]] int write_core_file(const std::string& path, std::span<const memory_run> runs);

}  // namespace quire::split
