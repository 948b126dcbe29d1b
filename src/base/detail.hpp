// SPDX-License-Identifier: BSD-3-Clause
// What was wrong with a call of the API, in a sentence for people: beside the status that it returns, of each thread by
// itself (quire_last_error()). Application threads and their servers; a fixed buffer, no heap.
#pragma once

#include <quire/quire.h>

#include <cstdint>

namespace quire::base {

inline constexpr int detail_bytes = 256;

/// A call of the API begins: nothing is wrong with it yet.
void clear_detail() noexcept;
/// Remembers the sentence, made as base::log() does, and gives `status` back. The last one of a call counts.
quire_status explain(quire_status status, const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
/// The same, unless there is a sentence already, of a lower layer that knew better.
quire_status explain_if_unsaid(quire_status status, const char* format, ...) noexcept
    __attribute__((format(printf, 2, 3)));
/// As %lu takes it.
[[nodiscard]] constexpr unsigned long number(std::uint64_t n) noexcept { return static_cast<unsigned long>(n); }
/// The calling thread's sentence; empty if there is none. Stays until the thread's next call.
[[nodiscard]] const char* detail() noexcept;

}  // namespace quire::base
