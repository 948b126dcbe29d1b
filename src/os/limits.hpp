// SPDX-License-Identifier: BSD-3-Clause
// What a process may have: limits of getrlimit(2), of its control group and of the system. Whoever is refused something
// asks here which of them it was, and puts that behind its own message. Also the checks before a start, as libraries
// that lack threads or descriptors abort instead of telling.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace quire::os {

/// What the system has refused.
enum class shortage : std::uint8_t {
  addresses,   ///< a mapping: ENOMEM
  thread,      ///< a thread or a process: EAGAIN
  descriptor,  ///< EMFILE, ENFILE
  file_size,   ///< EFBIG, or SIGXFSZ
};

/// A part of a sentence, as "; a user may have 20 processes and threads (ulimit -u, RLIMIT_NPROC)"; empty where no
/// limit explains it. Without heap.
struct limit_text {
  char text[320] = {};
};
[[nodiscard]] limit_text explain(shortage what) noexcept;
/// The same by an errno value; empty for those that are no matter of limits.
[[nodiscard]] limit_text explain_error(int error) noexcept;

/// explain(shortage::descriptor) if none can be opened now, else empty. Async-signal-safe.
[[nodiscard]] limit_text explain_if_no_descriptor() noexcept;

/// A limit that the process's control group, or one that this is in, has, and what counts against it. `most` is 0 where
/// there is none, or it cannot be read.
struct group_limit {
  std::uint64_t most = 0, used = 0;
  const char* name = "";  ///< "memory.max"
};
[[nodiscard]] group_limit processes_of_group() noexcept;
[[nodiscard]] group_limit memory_of_group() noexcept;

/// Whether files of this process, memory without a name included, may be so long: the hard limit counts, as the soft
/// one can be raised to it (file_size.hpp).
[[nodiscard]] bool file_may_have(std::uint64_t bytes) noexcept;
/// Whether the system commits memory when it is mapped, not when it is touched (vm.overcommit_memory=2), whatever
/// MAP_NORESERVE says. Read once.
[[nodiscard]] bool commits_what_is_mapped() noexcept;

/// Whether a node could have the addresses: the shared range, unless it has that already (`first` is 0), the heap, half
/// of it, a second time for the engine, and tables. errno in `error` (EEXIST: something else is there).
[[nodiscard]] bool has_room(std::uint64_t first, std::uint64_t range, int& error) noexcept;
/// Why no node can start with this range, and what would help; empty if one can.
[[nodiscard]] std::string why_no_room(std::uint64_t first, std::uint64_t range);

/// The first limit under which not even the libraries of a node could be loaded, with what is needed; empty if there is
/// none. `quire run` asks, as the dynamic linker's words would be all.
[[nodiscard]] std::string too_small_for_nodes();
/// Before anything is opened in a node: /proc, and descriptors, whose soft limit it raises where there are few for a
/// job of `nodes`. QUIRE_SYSTEM or QUIRE_UNSUPPORTED, after a line.
[[nodiscard]] base::status check_process(unsigned nodes) noexcept;
/// Whether the memory of others of this process's user can be opened by /proc/PID/fd, and its own by them. The system
/// forbids it of a process whose executable the user may not read. Logs nothing.
[[nodiscard]] bool others_may_look() noexcept;

}  // namespace quire::os
