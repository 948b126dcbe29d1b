// SPDX-License-Identifier: BSD-3-Clause
// dlopen(3) of a bare name looks where its caller's file says (DT_RUNPATH), which another caller would not find.
#pragma once

#include <cstddef>

namespace quire::program {

/// The path of a library that code at `caller` asks for; the name itself, if it has a path already, is loaded, or is
/// not in the folders of the caller's file. On a private stack.
void find_library(const char* name, const void* caller, char* path, std::size_t bytes) noexcept;

}  // namespace quire::program
