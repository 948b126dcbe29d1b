// SPDX-License-Identifier: BSD-3-Clause
// Messages for people, written with one write(2) each: safe in signal handlers and fault context, never allocates.
// A line looks like "quire[2]: text" where 2 is the node. Called once, where a failure is decided.
#pragma once

#include <cstdarg>

namespace quire::base {

enum class log_level : int { error = 0, warning = 1, info = 2, debug = 3 };

/// Number of this node in the prefix of each line; -1 (the default) prints none.
void log_set_node(int node) noexcept;
/// Lines above this level are dropped (option QUIRE_LOG). Default: warning.
void log_set_level(log_level level) noexcept;
[[nodiscard]] log_level log_get_level() noexcept;

/// printf-like, but only %s %d %u %ld %lu %zu %lx %x %p %c %% are understood. At most 1,000 characters.
/// Async-signal-safe.
void log(log_level level, const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
/// A line that is said whatever the level: somebody has asked for it.
void say(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));
/// The same formatting into a buffer; returns the number of characters, without the final NUL that is always written.
int format_to(char* buffer, int size, const char* format, std::va_list arguments) noexcept;

/// Called by die() with the exit code, after the message. Async-signal-safe.
void log_set_last_words(void (*words)(int exit_code) noexcept) noexcept;

/// Ends the process as die() does, without a message: somebody else has said why. Async-signal-safe.
[[noreturn]] void end_process(int exit_code) noexcept;

/// Says why and ends the process with `exit_code`, without running handlers of the application. Async-signal-safe.
[[noreturn]] void die(int exit_code, const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));

}  // namespace quire::base
