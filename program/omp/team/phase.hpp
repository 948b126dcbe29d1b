// SPDX-License-Identifier: BSD-3-Clause
// Phases of the program, for quire_plan(): what follows the beginning of a parallel region, or a barrier in one. Which
// it is the code says that begins it, and that which began the phase before: a barrier in a loop has another phase
// behind it the first time.
#pragma once

namespace quire::program {

/// One thread of the node, when the nodes have met, before the others go on. `code`: an address in the program; null
/// where it is not known.
void begin_phase(const void* code) noexcept;
/// Between regions, on the node of main.
void begin_serial_phase() noexcept;

}  // namespace quire::program
