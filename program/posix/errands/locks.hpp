// SPDX-License-Identifier: BSD-3-Clause
// Mutexes of the job. Who gives one back has written what it wrote to standard output before (output.hpp).
#pragma once

#include <quire/quire.h>

#include <cstdint>

namespace quire::program {

/// A mutex of the job, by a number that fits into the smallest lock of OpenMP; 0: none could be made.
[[nodiscard]] std::uint32_t make_lock() noexcept;
void destroy_lock(std::uint32_t number) noexcept;
[[nodiscard]] quire_mutex lock_of(std::uint32_t number) noexcept;
void lock(quire_mutex m) noexcept;
[[nodiscard]] bool try_lock(quire_mutex m) noexcept;
/// How many of these the calling thread has.
[[nodiscard]] int locks_held() noexcept;
void unlock(quire_mutex m) noexcept;

/// The lock of a critical section, whose word the compiler has made for its name: shared, zero at first, and the number
/// of a lock then.
void lock_by_name(std::uint32_t* word) noexcept;
void unlock_by_name(std::uint32_t* word) noexcept;

}  // namespace quire::program
