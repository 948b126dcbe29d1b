// SPDX-License-Identifier: BSD-3-Clause
// From what is recorded to what stands in the file of a node: by the node itself at its end, or by the `quire` command,
// of a node that has died, from the memory that was kept of it (bootstrap/launcher/kept_record.hpp). Nobody writes to
// the memory any more. Pure; application threads.
#pragma once

#include <string>

#include "record/file.hpp"
#include "record/recorder.hpp"

namespace quire::record {

enum class state_of_node { runs, is_dead };
/// Times, threads, names, peers and maps; no regions. Of a node that runs threads that are still in their records are
/// left out.
void tell(const memory& from, std::uint64_t end_ns, state_of_node state, node_record& to);
/// When the last thing was recorded.
[[nodiscard]] std::uint64_t last_ns(const memory& from) noexcept;

[[nodiscard]] std::string memory_name(std::uint64_t node);  ///< beside file_name()
/// All that the memory of a dead node tells. False, and a sentence in `why`: it is no such memory, or of another build,
/// or the node had not begun to record.
[[nodiscard]] bool tell_dead(const memory& from, node_record& to, std::string& why);

}  // namespace quire::record
