// SPDX-License-Identifier: BSD-3-Clause
// The libraries that a program brings along: what uses OpenMP may be one of them, and not the executable. Called by
// `quire exec`, `quire run` and `quire info`.
#pragma once

#include <string>
#include <vector>

#include "elf_file.hpp"

namespace quire::tools {

struct own_library {
  std::string path;
  elf_file file;
};

/// Those outside of the system's folders and of compilers', as the loader finds them, needed ones of needed ones too.
/// None if one cannot be found: then the program does not start.
[[nodiscard]] std::vector<own_library> own_libraries_of(const std::string& program);

/// Paths of the libraries that the system's dynamic linker would load with a program; nothing of the program runs.
/// False if it cannot tell.
[[nodiscard]] bool libraries_of(const std::string& path, std::vector<std::string>& into);

/// The first library that the linker does not find; empty if it finds all.
[[nodiscard]] std::string missing_library_of(const std::string& path);

}  // namespace quire::tools
