// SPDX-License-Identifier: BSD-3-Clause
// The processors that this process may use, as the system describes them.
#pragma once

#include <vector>

#include "program/omp/places/place_list.hpp"

namespace quire::program {

/// In the order of their numbers. Where /sys does not tell, each is a core, and there is one socket.
[[nodiscard]] std::vector<processor> processors_here();

/// The caller is not bound yet: what it may use, the node's process may.
void note_processors() noexcept;
/// Whether that had a processor, a number below CPU_SETSIZE.
[[nodiscard]] bool had_processor(int number) noexcept;

}  // namespace quire::program
