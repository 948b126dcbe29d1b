// SPDX-License-Identifier: BSD-3-Clause
// Constructors and destructors of the program and of its own libraries: they run on node 0, in shared memory, as main()
// does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "program/process/modules.hpp"

namespace quire::program {

/// On node 0, before main(): those of libraries in the order that the dynamic linker has chosen, then those of the
/// executable.
void run_constructors(int count, char** arguments, char** environment, bool of_executable);
/// On node 0, after the program's own: those of libraries.
void run_destructors() noexcept;

/// What is loaded by now ends after the job: Quire stands on it.
void note_modules_before_program() noexcept;
/// What constructors get.
void note_arguments(int count, char** arguments, char** environment) noexcept;

// A library of the program's own that is loaded during the run has a number. One thread of a node at a time.

/// Between its mapping and its relocation: the dynamic linker notes the order of constructors only.
[[nodiscard]] std::size_t hold_back_late(const module& of) noexcept;
/// Whether it has destructors: without them nobody hears that it is taken away.
[[nodiscard]] bool has_last_call(const module& of) noexcept;
/// How many calls of constructors the dynamic linker has noted up to now; those since; and they are read.
[[nodiscard]] std::size_t noted() noexcept;
[[nodiscard]] std::span<const std::uint16_t> order_of_late(std::size_t from) noexcept;
void forget_order(std::size_t from) noexcept;
/// Its own, now.
void run_late_constructors(std::size_t number);
void run_late_destructors(std::size_t number);
/// `tell` is called where the dynamic linker would call its destructors.
void when_taken_away(void (*tell)(std::size_t number)) noexcept;
void forget_late(std::size_t number) noexcept;

}  // namespace quire::program
