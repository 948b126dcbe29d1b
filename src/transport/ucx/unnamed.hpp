// SPDX-License-Identifier: BSD-3-Clause
// Where UCX_TLS of the user names shared memory, UCX makes it as files of /dev/shm: each has a name until 4 MiB of
// zeroes have been written to it, and stays there if the process is killed meanwhile. A /dev/shm that is small (a
// container's has 64 MiB) takes few nodes. Here that memory gets no name at any moment, no limit but that of the
// system's memory, and no zeroes: the system gives those with each page that is used.
//
// Nothing else changes: the other nodes open it by /proc/PID/fd, as UCX does by itself. Used by worker.cpp.
#pragma once

#include "base/status.hpp"

namespace quire::transport::ucx {

/// Makes UCX's libuct create its segments of shared memory without names. Once UCX is loaded, before it opens anything;
/// later calls do nothing. A user who wants names (UCX_POSIX_USE_PROC_LINK=n) or another directory (UCX_POSIX_DIR) has
/// them. QUIRE_UNSUPPORTED if libuct does not make them by shm_open(); nothing is logged.
[[nodiscard]] base::status take_names_from_memory() noexcept;
/// Whether it is so: then UCX's memory lies in that directory, and takes its room.
[[nodiscard]] bool user_wants_names() noexcept;

}  // namespace quire::transport::ucx
