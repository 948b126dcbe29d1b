// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace quire::base {
namespace {

std::atomic<int> g_node{-1};
std::atomic<void (*)(int) noexcept> g_last_words{nullptr};
std::atomic<int> g_level{static_cast<int>(log_level::warning)};

/// A bounded text that drops what does not fit.
struct text {
  char* out;
  int size;
  int length = 0;
  void put(char c) noexcept {
    if (length < size - 1) out[length++] = c;
  }
  void put(const char* s) noexcept {
    if (s == nullptr) s = "(null)";
    while (*s != 0) put(*s++);
  }
  void number(std::uint64_t value, unsigned radix) noexcept {
    char digits[32];
    int n = 0;
    do {
      digits[n++] = "0123456789abcdef"[value % radix];
      value /= radix;
    } while (value != 0);
    while (n > 0) put(digits[--n]);
  }
  void signed_number(std::int64_t value) noexcept {
    if (value < 0) put('-');
    number(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value), 10);
  }
};

void write_line(const char* level, const char* format, std::va_list arguments) noexcept {
  char buffer[1024];
  text line{buffer, static_cast<int>(sizeof buffer) - 1};
  line.put("quire");
  if (const int node = g_node.load(std::memory_order_relaxed); node >= 0) {
    line.put('[');
    line.signed_number(node);
    line.put(']');
  }
  line.put(": ");
  line.put(level);
  line.length += format_to(buffer + line.length, line.size - line.length, format, arguments);
  buffer[line.length++] = '\n';
  const int saved = errno;
  for (int done = 0; done < line.length;) {
    const auto n = ::write(2, buffer + done, static_cast<size_t>(line.length - done));
    if (n <= 0 && errno != EINTR) break;
    if (n > 0) done += static_cast<int>(n);
  }
  errno = saved;
}

}  // namespace

void log_set_node(int node) noexcept { g_node.store(node, std::memory_order_relaxed); }
void log_set_level(log_level level) noexcept { g_level.store(static_cast<int>(level), std::memory_order_relaxed); }
void log_set_last_words(void (*words)(int) noexcept) noexcept { g_last_words.store(words, std::memory_order_release); }
log_level log_get_level() noexcept { return static_cast<log_level>(g_level.load(std::memory_order_relaxed)); }

int format_to(char* buffer, int size, const char* f, std::va_list arguments) noexcept {
  text out{buffer, size};
  for (; *f != 0; ++f) {
    if (*f != '%') {
      out.put(*f);
      continue;
    }
    ++f;
    int longs = 0;
    while (*f == 'l' || *f == 'z') ++longs, ++f;
    switch (*f) {
      case 's':
        out.put(va_arg(arguments, const char*));
        break;
      case 'c':
        out.put(static_cast<char>(va_arg(arguments, int)));
        break;
      case 'd':
      case 'i':
        out.signed_number(longs != 0 ? va_arg(arguments, long) : va_arg(arguments, int));
        break;
      case 'u':
        out.number(longs != 0 ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned), 10);
        break;
      case 'x':
        out.number(longs != 0 ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned), 16);
        break;
      case 'p':
        out.put("0x");
        out.number(reinterpret_cast<std::uintptr_t>(va_arg(arguments, void*)), 16);
        break;
      case '%':
        out.put('%');
        break;
      case 0:
        --f;
        break;
      default:
        out.put('?');
        break;
    }
  }
  buffer[out.length] = 0;
  return out.length;
}

void log(log_level level, const char* format, ...) noexcept {
  if (static_cast<int>(level) > g_level.load(std::memory_order_relaxed)) return;
  static constexpr const char* names[] = {"error: ", "warning: ", "", "debug: "};
  std::va_list arguments;
  va_start(arguments, format);
  write_line(names[static_cast<int>(level)], format, arguments);
  va_end(arguments);
}

void say(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  write_line("", format, arguments);
  va_end(arguments);
}

void die(int exit_code, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  write_line("error: ", format, arguments);
  va_end(arguments);
  end_process(exit_code);
}

void end_process(int exit_code) noexcept {
  if (const auto words = g_last_words.load(std::memory_order_acquire); words != nullptr) words(exit_code);
  ::_exit(exit_code);
}

}  // namespace quire::base
