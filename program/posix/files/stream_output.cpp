// SPDX-License-Identifier: BSD-3-Clause
// Output to streams of other nodes: text is made here, where its parts may be private, and written there as a whole.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "program/posix/errands/at_owner.hpp"
#include "program/process/libc_heap.hpp"

extern "C" {
[[noreturn]] void __chk_fail();
int __vasprintf_chk(char**, int, const char*, va_list) noexcept;
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vfwprintf_chk(FILE*, int, const wchar_t*, va_list);
int _IO_putc(int, FILE*);
}

using namespace quire::program;

namespace {

/// Libc writes shared memory in parts.
size_t put(int node, FILE* stream, const void* from, size_t bytes) noexcept {
  errand e(node);
  const void* const there = e.take(from, bytes);
  return e.run([=] {
    QUIRE_NEXT(flockfile)(stream);
    const size_t done = QUIRE_NEXT(fwrite)(there, 1, bytes, stream);
    QUIRE_NEXT(funlockfile)(stream);
    return done;
  });
}

size_t put_items(int node, FILE* stream, const void* from, size_t size, size_t count) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes == 0) return 0;
  return put(node, stream, from, bytes) / size;
}

int put_text(int node, FILE* stream, const char* text) noexcept {
  const size_t length = strlen(text);
  return put(node, stream, text, length) == length ? 1 : EOF;
}

int put_formatted(int node, FILE* stream, int flag, const char* format, va_list arguments) noexcept {
  char* text = nullptr;
  const int length = flag >= 0 ? QUIRE_NEXT(__vasprintf_chk)(&text, flag, format, arguments)
                               : QUIRE_NEXT(vasprintf)(&text, format, arguments);
  if (length < 0) return length;
  const bool all = put(node, stream, text, static_cast<size_t>(length)) == static_cast<size_t>(length);
  const int saved = errno;
  libc_free(text);
  errno = saved;
  return all ? length : -1;
}

int put_wide(int node, FILE* stream, const wchar_t* text, size_t length) noexcept {
  errand e(node);
  const wchar_t* const there = e.take(text, (length + 1) * sizeof *text);
  return e.run([=] {
    QUIRE_NEXT(flockfile)(stream);
    bool all = true;
    for (size_t i = 0; i < length && all; ++i) all = QUIRE_NEXT(fputwc)(there[i], stream) != WEOF;
    QUIRE_NEXT(funlockfile)(stream);
    return all ? 1 : -1;
  });
}

/// vswprintf(3) does not tell how much room it needs.
int put_formatted_wide(int node, FILE* stream, const wchar_t* format, va_list arguments) noexcept {
  constexpr size_t first_room = 1024, most_room = size_t{1} << 28;
  for (size_t room = first_room; room <= most_room; room *= 4) {
    auto* const text = static_cast<wchar_t*>(libc_malloc(room * sizeof(wchar_t)));
    if (text == nullptr) return -1;
    va_list again;
    va_copy(again, arguments);
    const int length = ::vswprintf(text, room, format, again);
    va_end(again);
    const int result = length < 0 || put_wide(node, stream, text, static_cast<size_t>(length)) < 0 ? -1 : length;
    const int saved = errno;
    libc_free(text);
    errno = saved;
    if (length >= 0) return result;
  }
  return -1;
}

constexpr int no_flag = -1;

}  // namespace

QUIRE_LIBC int vfprintf(FILE* stream, const char* format, va_list arguments) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(vfprintf)(stream, format, arguments)
                      : put_formatted(node, stream, no_flag, format, arguments);
}
QUIRE_LIBC int fprintf(FILE* stream, const char* format, ...) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  va_list arguments;
  va_start(arguments, format);
  const int result = node == here ? QUIRE_NEXT(vfprintf)(stream, format, arguments)
                                  : put_formatted(node, stream, no_flag, format, arguments);
  va_end(arguments);
  return result;
}
QUIRE_LIBC int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(__vfprintf_chk)(stream, flag, format, arguments)
                      : put_formatted(node, stream, flag, format, arguments);
}
QUIRE_LIBC int __fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  va_list arguments;
  va_start(arguments, format);
  const int result = node == here ? QUIRE_NEXT(__vfprintf_chk)(stream, flag, format, arguments)
                                  : put_formatted(node, stream, flag, format, arguments);
  va_end(arguments);
  return result;
}

QUIRE_LIBC int vfwprintf(FILE* stream, const wchar_t* format, va_list arguments) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(vfwprintf)(stream, format, arguments)
                      : put_formatted_wide(node, stream, format, arguments);
}
QUIRE_LIBC int fwprintf(FILE* stream, const wchar_t* format, ...) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  va_list arguments;
  va_start(arguments, format);
  const int result = node == here ? QUIRE_NEXT(vfwprintf)(stream, format, arguments)
                                  : put_formatted_wide(node, stream, format, arguments);
  va_end(arguments);
  return result;
}
QUIRE_LIBC int __vfwprintf_chk(FILE* stream, int flag, const wchar_t* format, va_list arguments) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(__vfwprintf_chk)(stream, flag, format, arguments)
                      : put_formatted_wide(node, stream, format, arguments);
}
QUIRE_LIBC int __fwprintf_chk(FILE* stream, int flag, const wchar_t* format, ...) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  va_list arguments;
  va_start(arguments, format);
  const int result = node == here ? QUIRE_NEXT(__vfwprintf_chk)(stream, flag, format, arguments)
                                  : put_formatted_wide(node, stream, format, arguments);
  va_end(arguments);
  return result;
}

QUIRE_LIBC size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fwrite)(from, size, count, stream) : put_items(node, stream, from, size, count);
}
QUIRE_LIBC size_t fwrite_unlocked(const void* from, size_t size, size_t count, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fwrite_unlocked)(from, size, count, stream)
                      : put_items(node, stream, from, size, count);
}
QUIRE_LIBC int fputs(const char* text, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fputs)(text, stream) : put_text(node, stream, text);
}
QUIRE_LIBC int fputs_unlocked(const char* text, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fputs_unlocked)(text, stream) : put_text(node, stream, text);
}
QUIRE_LIBC int fputws(const wchar_t* text, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fputws)(text, stream) : put_wide(node, stream, text, wcslen(text));
}
QUIRE_AT_OWNER(int, fputc, (int one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(int, putc, (int one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(int, _IO_putc, (int one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(int, fputc_unlocked, (int one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(int, putc_unlocked, (int one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(int, putw, (int word, FILE* stream), stream, (word, stream))
QUIRE_AT_OWNER(wint_t, fputwc, (wchar_t one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(wint_t, putwc, (wchar_t one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(wint_t, fputwc_unlocked, (wchar_t one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(wint_t, putwc_unlocked, (wchar_t one, FILE* stream), stream, (one, stream))
QUIRE_LIBC int fputws_unlocked(const wchar_t* text, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fputws_unlocked)(text, stream) : put_wide(node, stream, text, wcslen(text));
}
