// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/phase.hpp"

#include <quire/system.h>

#include <cstdint>

namespace quire::program {

namespace {
std::uint64_t g_before = 0;  ///< what began the phase under way: one thread at a time

void begin(std::uint64_t code) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  const std::uint64_t key = (code ^ g_before * odd) * odd;
  g_before = code;
  (void)quire_plan(key != 0 ? key : 1);
}
}  // namespace

void begin_phase(const void* code) noexcept { begin(reinterpret_cast<std::uint64_t>(code)); }
void begin_serial_phase() noexcept { begin(g_before + 1); }

}  // namespace quire::program
