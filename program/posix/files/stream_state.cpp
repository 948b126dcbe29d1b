// SPDX-License-Identifier: BSD-3-Clause
// What streams of other nodes are asked for, and told, beside input and output; and how streams are opened: on node 0.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <wchar.h>

#include "program/posix/errands/at_owner.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/process/libc_heap.hpp"
#include "program/process/programs_mask.hpp"

using namespace quire::program;

QUIRE_AT_OWNER(int, fclose, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(int, fseek, (FILE * stream, long offset, int from), stream, (stream, offset, from))
QUIRE_AT_OWNER(int, fseeko, (FILE * stream, off_t offset, int from), stream, (stream, offset, from))
QUIRE_AT_OWNER(int, fseeko64, (FILE * stream, off64_t offset, int from), stream, (stream, offset, from))
QUIRE_AT_OWNER(long, ftell, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(off_t, ftello, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(off64_t, ftello64, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER_VOID(rewind, (FILE * stream), stream, (stream))
QUIRE_AT_OWNER(int, feof, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, ferror, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER_VOID(clearerr, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, fileno, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, feof_unlocked, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, ferror_unlocked, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER_VOID(clearerr_unlocked, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, fileno_unlocked, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, fwide, (FILE * stream, int mode), stream, (stream, mode), noexcept)
QUIRE_AT_OWNER_VOID(__fpurge, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(size_t, __fpending, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(size_t, __fbufsize, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, __flbf, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, __freadable, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, __freading, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, __fwritable, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, __fwriting, (FILE * stream), stream, (stream), noexcept)
QUIRE_AT_OWNER(int, __fsetlocking, (FILE * stream, int type), stream, (stream, type), noexcept)

/// Null: the streams of this node, and those of the program on node 0.
QUIRE_LIBC int fflush(FILE* stream) {
  const int node = stream == nullptr ? node_of(new_one(), QUIRE_CALLER) : node_of(stream, QUIRE_CALLER);
  const int result = stream == nullptr || node == here ? QUIRE_NEXT(fflush)(stream) : 0;
  return node == here ? result : errand(node).run([=] { return QUIRE_NEXT(fflush)(stream); });
}
QUIRE_LIBC int fflush_unlocked(FILE* stream) {
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(fflush_unlocked)(stream);
  return errand(node).run([=] { return QUIRE_NEXT(fflush)(stream); });
}

namespace {
template <class Position, class Get>
int get_position(int node, FILE* stream, Position* to, Get get) noexcept {
  errand e(node);
  Position* const there = e.room_for(to, sizeof *to);
  const int result = e.run([=] { return get(stream, there); });
  if (result == 0) e.bring(to, there, sizeof *to);
  return result;
}
template <class Position, class Set>
int set_position(int node, FILE* stream, const Position* to, Set set) noexcept {
  errand e(node);
  const Position* const there = e.take(to, sizeof *to);
  return e.run([=] { return set(stream, there); });
}
}  // namespace
QUIRE_LIBC int fgetpos(FILE* stream, fpos_t* to) {
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fgetpos)(stream, to) : get_position(node, stream, to, QUIRE_NEXT(fgetpos));
}
QUIRE_LIBC int fgetpos64(FILE* stream, fpos64_t* to) {
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fgetpos64)(stream, to) : get_position(node, stream, to, QUIRE_NEXT(fgetpos64));
}
QUIRE_LIBC int fsetpos(FILE* stream, const fpos_t* to) {
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fsetpos)(stream, to) : set_position(node, stream, to, QUIRE_NEXT(fsetpos));
}
QUIRE_LIBC int fsetpos64(FILE* stream, const fpos64_t* to) {
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fsetpos64)(stream, to) : set_position(node, stream, to, QUIRE_NEXT(fsetpos64));
}

// A stream takes a buffer of its own, as it does for one in shared memory.
QUIRE_LIBC int setvbuf(FILE* stream, char* buffer, int mode, size_t bytes) noexcept {
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(setvbuf)(stream, buffer, mode, bytes);
  return errand(node).run([=] { return QUIRE_NEXT(setvbuf)(stream, nullptr, mode, bytes); });
}
QUIRE_LIBC void setbuffer(FILE* stream, char* buffer, size_t bytes) noexcept {
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(setbuffer)(stream, buffer, bytes);
  const int mode = buffer != nullptr ? _IOFBF : _IONBF;
  (void)errand(node).run([=] { return QUIRE_NEXT(setvbuf)(stream, nullptr, mode, bytes); });
}
QUIRE_LIBC void setbuf(FILE* stream, char* buffer) noexcept {
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(setbuf)(stream, buffer);
  const int mode = buffer != nullptr ? _IOFBF : _IONBF;
  (void)errand(node).run([=] { return QUIRE_NEXT(setvbuf)(stream, nullptr, mode, BUFSIZ); });
}
QUIRE_AT_OWNER_VOID(setlinebuf, (FILE * stream), stream, (stream), noexcept)

// The lock is the clerk's, who stays with the thread as long as it has one.
QUIRE_LIBC void flockfile(FILE* stream) noexcept {
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(flockfile)(stream);
  errand e(node);
  (void)e.run([=] { return QUIRE_NEXT(flockfile)(stream), 0; });
  e.hold();
}
QUIRE_LIBC int ftrylockfile(FILE* stream) noexcept {
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(ftrylockfile)(stream);
  errand e(node);
  const int result = e.run([=] { return QUIRE_NEXT(ftrylockfile)(stream); });
  if (result == 0) e.hold();
  return result;
}
QUIRE_LIBC void funlockfile(FILE* stream) noexcept {
  const int node = node_of(stream, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(funlockfile)(stream);
  errand e(node);
  (void)e.run([=] { return QUIRE_NEXT(funlockfile)(stream), 0; });
  e.let_go();
}

namespace {
template <class Open>
FILE* open_by_name(int node, const char* name, const char* mode, Open open) noexcept {
  errand e(node);
  const char* const name_there = e.take(name);
  const char* const mode_there = e.take(mode);
  return e.run([=] { return open(name_there, mode_there); });
}
template <class Open>
FILE* open_again(int node, const char* name, const char* mode, FILE* stream, Open open) noexcept {
  errand e(node);
  const char* const name_there = e.take(name);
  const char* const mode_there = e.take(mode);
  return e.run([=] { return open(name_there, mode_there, stream); });
}
}  // namespace
QUIRE_LIBC FILE* fopen(const char* name, const char* mode) {
  const int node = node_of(new_one(), QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fopen)(name, mode) : open_by_name(node, name, mode, QUIRE_NEXT(fopen));
}
QUIRE_LIBC FILE* fopen64(const char* name, const char* mode) {
  const int node = node_of(new_one(), QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(fopen64)(name, mode) : open_by_name(node, name, mode, QUIRE_NEXT(fopen64));
}
QUIRE_LIBC FILE* freopen(const char* name, const char* mode, FILE* stream) {
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(freopen)(name, mode, stream)
                      : open_again(node, name, mode, stream, QUIRE_NEXT(freopen));
}
QUIRE_LIBC FILE* freopen64(const char* name, const char* mode, FILE* stream) {
  const int node = node_of(stream, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(freopen64)(name, mode, stream)
                      : open_again(node, name, mode, stream, QUIRE_NEXT(freopen64));
}
QUIRE_LIBC FILE* fdopen(int descriptor, const char* mode) noexcept {
  const int node = node_of(descriptor, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(fdopen)(descriptor, mode);
  errand e(node);
  const char* const there = e.take(mode);
  return e.run([=] { return QUIRE_NEXT(fdopen)(descriptor, there); });
}
QUIRE_LIBC FILE* tmpfile() {
  const int node = node_of(new_one(), QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(tmpfile)() : errand(node).run([] { return QUIRE_NEXT(tmpfile)(); });
}
QUIRE_LIBC FILE* tmpfile64() {
  const int node = node_of(new_one(), QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(tmpfile64)() : errand(node).run([] { return QUIRE_NEXT(tmpfile64)(); });
}
namespace {
/// Libc hands the text to the system, which does not see shared memory.
FILE* open_command(const char* command, const char* mode) {
  char* const own = in_heap(command) ? static_cast<char*>(libc_malloc(strlen(command) + 1)) : nullptr;
  const programs_mask of_child;
  const char* const text = own != nullptr ? strcpy(own, command) : command;
  // Libc holds all signals meanwhile: no page of a shared stack could come.
  FILE* const made = called_aside([=] { return QUIRE_NEXT(popen)(text, mode); });
  const int saved = errno;
  libc_free(own);
  errno = saved;
  return made;
}
/// A child begins with the signals of the thread that makes it, and a clerk has none.
FILE* open_command_by_clerk(const char* command, const char* mode) {
  sigset_t none, before;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, &before);
  FILE* const made = open_command(command, mode);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}
}  // namespace
QUIRE_LIBC FILE* popen(const char* command, const char* mode) {
  const int node = node_of(new_one(), QUIRE_CALLER);
  return node == here ? open_command(command, mode) : open_by_name(node, command, mode, open_command_by_clerk);
}
QUIRE_AT_OWNER(int, pclose, (FILE * stream), stream, (stream))
