// SPDX-License-Identifier: BSD-3-Clause
// new and delete of C++. Those that others stand for: where a program defines them itself, for all modules, they use
// its static data, which Quire cannot touch while it shares them, nor while it serves others.
#pragma once

#include <cstddef>

namespace quire::program {

/// Those that the program defines; null: it has none.
struct programs_operators {
  void* (*make)(std::size_t) = nullptr;
  void* (*make_array)(std::size_t) = nullptr;
  void* (*make_aligned)(std::size_t, std::size_t) = nullptr;
  void* (*make_aligned_array)(std::size_t, std::size_t) = nullptr;
  void (*drop)(void*) = nullptr;
  void (*drop_array)(void*) = nullptr;
  void (*drop_aligned)(void*, std::size_t) = nullptr;
  void (*drop_aligned_array)(void*, std::size_t) = nullptr;

  [[nodiscard]] bool any() const noexcept {
    return make != nullptr || make_array != nullptr || make_aligned != nullptr || make_aligned_array != nullptr ||
           drop != nullptr || drop_array != nullptr || drop_aligned != nullptr || drop_aligned_array != nullptr;
  }
};
extern programs_operators g_programs;

/// From before the first thread of Quire to open_heap(), and from close_heap() on: no thread runs the program.
void note_no_program(bool begins) noexcept;
/// What stands in for an operator of a mangled name; null: it is none. `of_quire`: for Quire's libraries; else for
/// libstdc++, which works for both: what the program's threads make there, the program's operators make.
[[nodiscard]] const void* marked_operator(const char* name, bool of_quire) noexcept;

}  // namespace quire::program
