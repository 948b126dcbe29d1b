// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of other processes of this host, as memory and pipes without names are shared. At the start.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace quire::transport {

/// Opens descriptor `number` of process `process` once more, to read and write, if it is of `type` (S_IFREG, S_IFIFO)
/// and has `bytes` bytes; else -1. Needs the right to look into that process, as a debugger has, and the same PID
/// namespace.
[[nodiscard]] int open_elsewhere(std::int32_t process, std::int32_t number, mode_t type, off_t bytes) noexcept;

}  // namespace quire::transport
