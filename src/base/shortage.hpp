// SPDX-License-Identifier: BSD-3-Clause
// What names the limit behind a shortage, for a layer that knows nothing of the system.
#pragma once

#include <cstddef>

namespace quire::base {

/// Puts a part of a sentence, or nothing, where the heap for fault context says that there is no memory.
/// Async-signal-safe.
using words_of_shortage = void (*)(char* to, std::size_t bytes) noexcept;
void set_words_of_shortage(words_of_shortage words) noexcept;

}  // namespace quire::base
