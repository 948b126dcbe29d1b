// SPDX-License-Identifier: BSD-3-Clause
// Which consistency the program's memory has: `quire run --memory`, `quire exec --memory`.
//
//   sequential  all of it is sequentially consistent: what an x86 machine allows
//   mixed       static objects and blocks of the heap of 64 KiB and more have release consistency, all else is
//               sequential and orders (quire_region_options::orders). A program that synchronises by OpenMP's
//               constructs, by locks, or by flags and atomic operations on small objects sees no difference but the
//               time. Plain flags in a large object would be wrong, and atomic operations that are not watched
//   auto        mixed, if the program's code shows nothing that could go wrong with it, else sequential
//               (sites/verdict.hpp)
#pragma once

namespace quire::program {

/// What choose_memory() has found (loader/loading/automatic.hpp). `why`: of `auto`, after "as"; else empty.
void set_memory(bool mixed, bool watched, const char* why) noexcept;
[[nodiscard]] bool is_mixed() noexcept;
/// quire_region_options::orders of regions in which there may be flags.
[[nodiscard]] int orders_of_flags() noexcept;
/// If it is: atomic operations in large objects make these sequential (process/watch/demotion.hpp).
[[nodiscard]] bool is_watched() noexcept;
/// Of `auto`: why it is so, after "as". Else empty.
[[nodiscard]] const char* why_memory() noexcept;
/// Collective: ends the job if nodes have not the same.
void compare_memory();

}  // namespace quire::program
