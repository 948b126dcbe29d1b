// SPDX-License-Identifier: BSD-3-Clause
// new and delete of C++. Those that others stand for: where a program defines them itself, for all modules, they use
// its static data, which Quire cannot touch while it shares them, nor while it serves others.
#pragma once

#include <cstddef>

namespace quire::openmp {

/// Those that the program defines; null: it has none.
struct programs_operators {
  void* (*make)(std::size_t) = nullptr;
  void* (*make_aligned)(std::size_t, std::size_t) = nullptr;
  void (*drop)(void*) = nullptr;
  void (*drop_aligned)(void*, std::size_t) = nullptr;
};
extern programs_operators g_programs;

/// From before the first thread of Quire to open_heap(): no thread runs the program.
void note_start(bool begins) noexcept;
/// What stands in for an operator of a mangled name; null: it is none. `of_quire`: for Quire's libraries; else for
/// libstdc++, which works for both: what the program's threads make there, the program's operators make.
[[nodiscard]] const void* marked_operator(const char* name, bool of_quire) noexcept;

}  // namespace quire::openmp
