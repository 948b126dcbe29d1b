// SPDX-License-Identifier: BSD-3-Clause
// What the modules of the program tell of it, before anything of it runs.
#pragma once

namespace quire::program {

/// Whether the program, or a library of it, makes tasks.
[[nodiscard]] bool program_has_tasks() noexcept;
/// Whether the first OpenMP runtime that the program or a library of it names is LLVM's or Intel's, not gcc's: where
/// the two differ in what holds without a setting, the program has what it has there.
[[nodiscard]] bool program_is_for_llvm() noexcept;

}  // namespace quire::program
