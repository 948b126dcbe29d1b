// SPDX-License-Identifier: BSD-3-Clause
// open_memstream(3) whose buffer is shared: the stream is of its node, what it has written is anybody's.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "program/posix/heap/heap.hpp"
#include "program/process/interpose.hpp"
#include "program/process/libc_heap.hpp"

using namespace quire::program;

namespace {

struct memory_stream {
  char** to;
  size_t* length;
  char* buffer;  ///< shared
  size_t room, end, position;

  [[nodiscard]] bool reserve(size_t bytes) noexcept {
    if (bytes <= room) return true;
    const size_t more = std::max(bytes, 2 * room);
    void* const made = realloc(buffer, more);
    if (made == nullptr) return false;
    buffer = static_cast<char*>(made);
    room = more;
    return true;
  }
  void show() noexcept {
    buffer[end] = 0;
    *to = buffer;
    *length = std::min(position, end);
  }
};

ssize_t write_to(void* cookie, const char* from, size_t bytes) {
  auto& s = *static_cast<memory_stream*>(cookie);
  if (!s.reserve(s.position + bytes + 1)) return 0;
  if (s.position > s.end) memset(s.buffer + s.end, 0, s.position - s.end);
  memcpy(s.buffer + s.position, from, bytes);
  s.position += bytes;
  s.end = std::max(s.end, s.position);
  s.show();
  return static_cast<ssize_t>(bytes);
}

int seek_in(void* cookie, off64_t* offset, int from) {
  auto& s = *static_cast<memory_stream*>(cookie);
  const auto base = from == SEEK_SET ? 0 : static_cast<off64_t>(from == SEEK_CUR ? s.position : s.end);
  if (base + *offset < 0) return errno = EINVAL, -1;
  s.position = static_cast<size_t>(base + *offset);
  *offset = base + *offset;
  s.show();
  return 0;
}

int close_it(void* cookie) {
  libc_free(cookie);
  return 0;
}

}  // namespace

QUIRE_LIBC FILE* open_memstream(char** to, size_t* length) noexcept {
  if (!for_program(QUIRE_CALLER)) return QUIRE_NEXT(open_memstream)(to, length);
  constexpr size_t first_room = 512;
  auto* const s = static_cast<memory_stream*>(libc_malloc(sizeof(memory_stream)));
  auto* const buffer = static_cast<char*>(allocate_shared(first_room));
  if (s == nullptr || buffer == nullptr) return nullptr;
  *s = {to, length, buffer, first_room, 0, 0};
  s->show();
  FILE* const made = fopencookie(s, "w", {nullptr, write_to, seek_in, close_it});
  if (made == nullptr) libc_free(s);
  return made;
}
