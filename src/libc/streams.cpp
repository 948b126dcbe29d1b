// SPDX-License-Identifier: BSD-3-Clause
// Streams of libc (FILE). They read and write large buffers directly, with calls inside of libc that nobody can stand
// in front of: so the buffers go through a private one here, a part at a time, and streams keep buffers of their own.
#include <stdio.h>
#include <stdlib.h>

#include "libc/copies.hpp"

using namespace quire::api::calls;

extern "C" [[noreturn]] void __chk_fail(void);

namespace {

constexpr std::size_t stream_part_bytes = 8192;
using read_function = size_t(void*, size_t, size_t, FILE*);
using write_function = size_t(const void*, size_t, size_t, FILE*);

[[gnu::noinline]] size_t read_in_parts(read_function* real, void* to, size_t bytes, FILE* stream) {
  copies room(stream_part_bytes);
  if (!room.ok()) return 0;
  char* const part = room.next(stream_part_bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t want = std::min(bytes - done, stream_part_bytes);
    const std::size_t got = real(part, 1, want, stream);
    std::memcpy(static_cast<char*>(to) + done, part, got);
    done += got;
    if (got < want) break;
  }
  return done;
}
[[gnu::noinline]] size_t write_in_parts(write_function* real, const void* from, size_t bytes, FILE* stream) {
  copies room(stream_part_bytes);
  if (!room.ok()) return 0;
  char* const part = room.next(stream_part_bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t want = std::min(bytes - done, stream_part_bytes);
    std::memcpy(part, static_cast<const char*>(from) + done, want);
    const std::size_t put = real(part, 1, want, stream);
    done += put;
    if (put < want) break;
  }
  return done;
}

size_t read_stream(row& of, void* to, size_t size, size_t count, FILE* stream) {
  auto* const real = real_of<read_function>(of);
  std::size_t bytes = 0;
  if (!is_away(to) || size == 0 || __builtin_mul_overflow(size, count, &bytes)) return real(to, size, count, stream);
  return read_in_parts(real, to, bytes, stream) / size;
}
size_t write_stream(row& of, const void* from, size_t size, size_t count, FILE* stream) {
  auto* const real = real_of<write_function>(of);
  std::size_t bytes = 0;
  if (!is_away(from) || size == 0 || __builtin_mul_overflow(size, count, &bytes))
    return real(from, size, count, stream);
  return write_in_parts(real, from, bytes, stream) / size;
}
void check_room(size_t room, size_t size, size_t count) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes > room) __chk_fail();
}

}  // namespace

QUIRE_OWN(size_t, fread, (void* to, size_t size, size_t count, FILE* stream)) {
  return read_stream(row_fread, to, size, count, stream);
}
QUIRE_OWN(size_t, fread_unlocked, (void* to, size_t size, size_t count, FILE* stream)) {
  return read_stream(row_fread_unlocked, to, size, count, stream);
}
QUIRE_OWN(size_t, fwrite, (const void* from, size_t size, size_t count, FILE* stream)) {
  return write_stream(row_fwrite, from, size, count, stream);
}
QUIRE_OWN(size_t, fwrite_unlocked, (const void* from, size_t size, size_t count, FILE* stream)) {
  return write_stream(row_fwrite_unlocked, from, size, count, stream);
}
QUIRE_OWN(size_t, __fread_chk, (void* to, size_t room, size_t size, size_t count, FILE* stream)) {
  check_room(room, size, count);
  return quire_own_fread(to, size, count, stream);
}
QUIRE_OWN(size_t, __fread_unlocked_chk, (void* to, size_t room, size_t size, size_t count, FILE* stream)) {
  check_room(room, size, count);
  return quire_own_fread_unlocked(to, size, count, stream);
}

QUIRE_OWN(int, fputs, (const char* text, FILE* stream)) {
  if (!is_away(text)) return make<int>(row_fputs, text, stream);
  const std::size_t length = std::strlen(text);
  return quire_own_fwrite(text, 1, length, stream) == length ? 1 : EOF;
}
QUIRE_OWN(int, fputs_unlocked, (const char* text, FILE* stream)) {
  if (!is_away(text)) return make<int>(row_fputs_unlocked, text, stream);
  const std::size_t length = std::strlen(text);
  return quire_own_fwrite_unlocked(text, 1, length, stream) == length ? 1 : EOF;
}
QUIRE_OWN(int, puts, (const char* text)) {
  if (!is_away(text)) return make<int>(row_puts, text);
  ::flockfile(stdout);
  const bool put = quire_own_fputs_unlocked(text, stdout) != EOF && ::putc_unlocked('\n', stdout) != EOF;
  ::funlockfile(stdout);
  return put ? 1 : EOF;
}

// A buffer that libc fills by itself must be private: a stream that is given a shared one takes its own.
QUIRE_OWN(int, setvbuf, (FILE * stream, char* buffer, int mode, size_t bytes)) {
  return make<int>(row_setvbuf, stream, is_away(buffer) ? nullptr : buffer, mode, bytes);
}
QUIRE_OWN(void, setbuffer, (FILE * stream, char* buffer, size_t bytes)) {
  (void)quire_own_setvbuf(stream, buffer, buffer != nullptr ? _IOFBF : _IONBF, bytes);
}
QUIRE_OWN(void, setbuf, (FILE * stream, char* buffer)) { quire_own_setbuffer(stream, buffer, BUFSIZ); }
