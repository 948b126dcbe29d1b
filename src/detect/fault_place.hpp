// SPDX-License-Identifier: BSD-3-Clause
// Where in the program a fault happened: the instruction, and who may have called it, by frame pointers. Nothing is
// read but the thread's own private stack, within its bounds, and the program's code. Fault context: no heap, no lock,
// no system call.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>

namespace quire::detect {

/// The instruction first. Callers are guesses (a program may have no frame pointers); 0: not known. Of a function of a
/// library they are words of the stack that may be return addresses, up to the first in the program. The last is the
/// line of Python, if the thread is at one (python_place.hpp).
using fault_place = std::array<std::uint64_t, 4>;

/// From now on places of faults are kept. The calling thread is one of those that prepare_place() is for.
void keep_places() noexcept;
/// Looks at where the calling thread, which has just started, has its stack, if places are kept. Not for handlers.
void prepare_place() noexcept;

/// While it lives, the calling thread serves the fault of this context.
class place_scope {
 public:
  explicit place_scope(const ucontext_t& interrupted) noexcept;
  ~place_scope();
  place_scope(const place_scope&) = delete;
  place_scope& operator=(const place_scope&) = delete;

 private:
  const ucontext_t* outer_;
};

/// Of the fault that the calling thread serves; zeroes outside of faults.
[[nodiscard]] fault_place place_of_fault() noexcept;

}  // namespace quire::detect
