// SPDX-License-Identifier: BSD-3-Clause
// Input from streams of other nodes. Standard input is node 0's.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

#include "program/posix/errands/at_owner.hpp"

extern "C" {
[[noreturn]] void __chk_fail();
size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
size_t __fread_unlocked_chk(void*, size_t, size_t, size_t, FILE*);
char* __fgets_chk(char*, size_t, int, FILE*);
char* __fgets_unlocked_chk(char*, size_t, int, FILE*);
wchar_t* __fgetws_chk(wchar_t*, size_t, int, FILE*);
int __isoc99_vfscanf(FILE*, const char*, va_list);
int __isoc99_fscanf(FILE*, const char*, ...);
int __isoc99_vscanf(const char*, va_list);
int __isoc99_scanf(const char*, ...);
int _IO_getc(FILE*);
char* gets(char*);
char* __gets_chk(char*, size_t);
wchar_t* __fgetws_unlocked_chk(wchar_t*, size_t, int, FILE*);
}

using namespace quire::program;

namespace {

size_t get_items(int node, FILE* stream, void* to, size_t size, size_t count) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes == 0) return 0;
  errand e(node);
  void* const there = e.room_for(to, bytes);
  const size_t done = e.run([=] {
    QUIRE_NEXT(flockfile)(stream);
    const size_t got = QUIRE_NEXT(fread)(there, 1, bytes, stream);
    QUIRE_NEXT(funlockfile)(stream);
    return got;
  });
  e.bring(to, there, done);
  return done / size;
}

/// As fgets(3): how many characters, which may be any; -1: none, or an error.
template <class Character, class End, class Next>
int read_line(Character* to, int room, FILE* stream, End end, Next next) {
  QUIRE_NEXT(flockfile)(stream);
  const bool failed_before = ferror_unlocked(stream) != 0;
  int length = 0;
  bool last = false;
  while (length < room - 1 && !last) {
    const auto one = next(stream);
    if (one == end) break;
    to[length++] = static_cast<Character>(one);
    last = to[length - 1] == '\n';
  }
  const bool fails = !failed_before && ferror_unlocked(stream) != 0 && errno != EAGAIN;
  QUIRE_NEXT(funlockfile)(stream);
  to[length] = 0;
  return (length == 0 && room > 1) || fails ? -1 : length;
}

char* get_line(int node, char* to, int room, FILE* stream) noexcept {
  if (room <= 0) return nullptr;
  errand e(node);
  char* const there = e.room_for(to, static_cast<size_t>(room));
  const int length =
      e.run([=] { return read_line(there, room, stream, EOF, [](FILE* s) { return ::getc_unlocked(s); }); });
  if (length < 0) return nullptr;
  e.bring(to, there, static_cast<size_t>(length) + 1);
  return to;
}

wchar_t* get_wide_line(int node, wchar_t* to, int room, FILE* stream) noexcept {
  if (room <= 0) return nullptr;
  errand e(node);
  wchar_t* const there = e.room_for(to, static_cast<size_t>(room) * sizeof *to);
  const int length =
      e.run([=] { return read_line(there, room, stream, WEOF, [](FILE* s) { return ::fgetwc_unlocked(s); }); });
  if (length < 0) return nullptr;
  e.bring(to, there, (static_cast<size_t>(length) + 1) * sizeof *to);
  return to;
}

/// As gets(3): nobody tells how much room there is, so the clerk writes where the program's memory is. `room` is what
/// there is at least.
char* get_without_limit(int node, char* to, size_t room) {
  struct outcome {
    bool any, fits;
  };
  const outcome done = errand(node).run([=] {
    QUIRE_NEXT(flockfile)(stdin);
    size_t length = 0;
    int one = EOF;
    while ((one = ::getc_unlocked(stdin)) != EOF && one != '\n' && length < room) to[length++] = static_cast<char>(one);
    const bool any = (one != EOF || length != 0) && ferror_unlocked(stdin) == 0;
    if (any && length < room) to[length] = 0;
    QUIRE_NEXT(funlockfile)(stdin);
    return outcome{any, length < room};
  });
  if (!done.fits) __chk_fail();
  return done.any ? to : nullptr;
}

/// The arguments are on the caller's stack, and lead to memory of the program: all of it is shared.
struct list {
  va_list of;
};
template <class Function>
int scan(int node, FILE* stream, const char* format, va_list arguments, Function function) noexcept {
  errand e(node);
  const char* const there = e.take(format);
  list l;
  va_copy(l.of, arguments);
  const int result = e.run([=] {
    list own = l;
    return function(stream, there, own.of);
  });
  va_end(l.of);
  return result;
}

int scan_as_c99(FILE* stream, const char* format, va_list arguments, const void* caller) {
  const cancellation_point<> point(caller);
  const int node = node_of(stream, caller);
  if (node == here) return QUIRE_NEXT(__isoc99_vfscanf)(stream, format, arguments);
  return scan(node, stream, format, arguments,
              [](FILE* s, const char* f, va_list a) { return QUIRE_NEXT(__isoc99_vfscanf)(s, f, a); });
}
using scan_function = int(FILE*, const char*, va_list);
/// Its name is new with glibc 2.38.
int scan_as_c23(FILE* stream, const char* format, va_list arguments, const void* caller) {
  scan_function* const newest = QUIRE_NEXT_AS(scan_function, "__isoc23_vfscanf");
  scan_function* const function = newest != nullptr ? newest : QUIRE_NEXT(__isoc99_vfscanf);
  const cancellation_point<> point(caller);
  const int node = node_of(stream, caller);
  if (node == here) return function(stream, format, arguments);
  return scan(node, stream, format, arguments, function);
}
int scan_as_gnu(FILE* stream, const char* format, va_list arguments, const void* caller) {
  scan_function* const gnu = QUIRE_NEXT_AS(scan_function, "vfscanf");
  const cancellation_point<> point(caller);
  const int node = node_of(stream, caller);
  if (node == here) return gnu(stream, format, arguments);
  return scan(node, stream, format, arguments, gnu);
}

}  // namespace

/// The four forms of a function that reads by a format: from a stream or standard input, with a list or with arguments.
#define QUIRE_SCAN(prefix, how)                                                         \
  QUIRE_LIBC int prefix##vfscanf(FILE* stream, const char* format, va_list arguments) { \
    return how(stream, format, arguments, QUIRE_CALLER);                                \
  }                                                                                     \
  QUIRE_LIBC int prefix##vscanf(const char* format, va_list arguments) {                \
    return how(stdin, format, arguments, QUIRE_CALLER);                                 \
  }                                                                                     \
  QUIRE_LIBC int prefix##fscanf(FILE* stream, const char* format, ...) {                \
    va_list arguments;                                                                  \
    va_start(arguments, format);                                                        \
    const int result = how(stream, format, arguments, QUIRE_CALLER);                    \
    va_end(arguments);                                                                  \
    return result;                                                                      \
  }                                                                                     \
  QUIRE_LIBC int prefix##scanf(const char* format, ...) {                               \
    va_list arguments;                                                                  \
    va_start(arguments, format);                                                        \
    const int result = how(stdin, format, arguments, QUIRE_CALLER);                     \
    va_end(arguments);                                                                  \
    return result;                                                                      \
  }
QUIRE_SCAN(__isoc99_, scan_as_c99)
QUIRE_SCAN(__isoc23_, scan_as_c23)

// The header gives the old functions' names to the ones above.
#define QUIRE_OLD_SCAN(name, parameters)                                                        \
  extern "C" __attribute__((visibility("default"))) int quire_old_##name parameters asm(#name); \
  extern "C" int quire_old_##name parameters
QUIRE_OLD_SCAN(vfscanf, (FILE * stream, const char* format, va_list arguments)) {
  return scan_as_gnu(stream, format, arguments, QUIRE_CALLER);
}
QUIRE_OLD_SCAN(vscanf, (const char* format, va_list arguments)) {
  return scan_as_gnu(stdin, format, arguments, QUIRE_CALLER);
}
QUIRE_OLD_SCAN(fscanf, (FILE * stream, const char* format, ...)) {
  va_list arguments;
  va_start(arguments, format);
  const int result = scan_as_gnu(stream, format, arguments, QUIRE_CALLER);
  va_end(arguments);
  return result;
}
QUIRE_OLD_SCAN(scanf, (const char* format, ...)) {
  va_list arguments;
  va_start(arguments, format);
  const int result = scan_as_gnu(stdin, format, arguments, QUIRE_CALLER);
  va_end(arguments);
  return result;
}

QUIRE_LIBC size_t fread(void* to, size_t size, size_t count, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fread)(to, size, count, stream) : get_items(node, stream, to, size, count);
}
QUIRE_LIBC size_t fread_unlocked(void* to, size_t size, size_t count, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fread_unlocked)(to, size, count, stream) : get_items(node, stream, to, size, count);
}
QUIRE_LIBC char* fgets(char* to, int room, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fgets)(to, room, stream) : get_line(node, to, room, stream);
}
QUIRE_LIBC char* fgets_unlocked(char* to, int room, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fgets_unlocked)(to, room, stream) : get_line(node, to, room, stream);
}
QUIRE_LIBC wchar_t* fgetws(wchar_t* to, int room, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fgetws)(to, room, stream) : get_wide_line(node, to, room, stream);
}
QUIRE_LIBC wchar_t* fgetws_unlocked(wchar_t* to, int room, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fgetws_unlocked)(to, room, stream) : get_wide_line(node, to, room, stream);
}
QUIRE_LIBC char* gets(char* to) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stdin, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(gets)(to) : get_without_limit(node, to, SIZE_MAX);
}
QUIRE_AT_OWNER(int, fgetc, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(int, getc, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(int, _IO_getc, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(int, fgetc_unlocked, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(int, getc_unlocked, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(int, getchar, (), stdin, ())
QUIRE_AT_OWNER(int, getchar_unlocked, (), stdin, ())
QUIRE_AT_OWNER(int, getw, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(int, ungetc, (int one, FILE* stream), stream, (one, stream))
QUIRE_AT_OWNER(wint_t, fgetwc, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(wint_t, getwc, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(wint_t, getwchar, (), stdin, ())
QUIRE_AT_OWNER(wint_t, fgetwc_unlocked, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(wint_t, getwc_unlocked, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(wint_t, getwchar_unlocked, (), stdin, ())
QUIRE_AT_OWNER(wint_t, ungetwc, (wint_t one, FILE* stream), stream, (one, stream))

/// What getc_unlocked() in the program's own code calls where its node's stream has nothing, as standard input has not
/// elsewhere than on node 0.
QUIRE_LIBC int __uflow(FILE* stream) {
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(__uflow)(stream)
                      : errand(node).run([=] { return QUIRE_NEXT(fgetc_unlocked)(stream); });
}

// What a program built with _FORTIFY_SOURCE calls instead.
namespace {
void check(size_t room, size_t size, size_t count) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes > room) __chk_fail();
}
}  // namespace
QUIRE_LIBC size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(__fread_chk)(to, room, size, count, stream);
  check(room, size, count);
  return get_items(node, stream, to, size, count);
}
QUIRE_LIBC size_t __fread_unlocked_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(__fread_unlocked_chk)(to, room, size, count, stream);
  check(room, size, count);
  return get_items(node, stream, to, size, count);
}
QUIRE_LIBC char* __fgets_chk(char* to, size_t room, int bytes, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(__fgets_chk)(to, room, bytes, stream);
  if (bytes > 0) check(room, 1, static_cast<size_t>(bytes));
  return get_line(node, to, bytes, stream);
}
QUIRE_LIBC char* __fgets_unlocked_chk(char* to, size_t room, int bytes, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(__fgets_unlocked_chk)(to, room, bytes, stream);
  if (bytes > 0) check(room, 1, static_cast<size_t>(bytes));
  return get_line(node, to, bytes, stream);
}
QUIRE_LIBC wchar_t* __fgetws_chk(wchar_t* to, size_t room, int count, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(__fgetws_chk)(to, room, count, stream);
  if (count > 0) check(room, 1, static_cast<size_t>(count));
  return get_wide_line(node, to, count, stream);
}
QUIRE_LIBC wchar_t* __fgetws_unlocked_chk(wchar_t* to, size_t room, int count, FILE* stream) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(__fgetws_unlocked_chk)(to, room, count, stream);
  if (count > 0) check(room, 1, static_cast<size_t>(count));
  return get_wide_line(node, to, count, stream);
}
QUIRE_LIBC char* __gets_chk(char* to, size_t room) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(stdin, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(__gets_chk)(to, room) : get_without_limit(node, to, room);
}
