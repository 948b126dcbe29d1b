// SPDX-License-Identifier: BSD-3-Clause
// Run-times in whose presence Quire's cannot be: sanitizers, Go, other libcs. Their loaders' words, or a crash, would
// be all that a user sees.
#pragma once

#include <string>

#include "elf_file.hpp"

namespace quire::tools {

/// Why `quire exec` cannot start a program with that, and what to do: what follows its name in a sentence. Empty if it
/// can.
[[nodiscard]] std::string other_run_time(const elf_file& file);

/// Whether a program brings a malloc() of its own: it runs on one node only (program/loader/start/allocators.hpp).
[[nodiscard]] bool has_own_malloc(const elf_file& file);

}  // namespace quire::tools
