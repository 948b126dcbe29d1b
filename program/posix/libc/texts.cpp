// SPDX-License-Identifier: BSD-3-Clause
// Memory that functions of libc give out, for the caller to free: libc allocates it as its own, which is private. Calls
// of the program get a shared copy.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/private_text.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/threads/cancellation.hpp"
#include "program/process/interpose.hpp"
#include "program/process/libc_heap.hpp"

extern "C" {
[[noreturn]] void __chk_fail();
int __vasprintf_chk(char**, int, const char*, va_list) noexcept;
}

using namespace quire::program;

namespace {

void* allocate(size_t bytes, const void* caller) noexcept {
  return for_program(caller) ? allocate_shared(bytes) : libc_malloc(bytes);
}

char* copy(const char* text, size_t length, const void* caller) noexcept {
  auto* const made = static_cast<char*>(allocate(length + 1, caller));
  if (made == nullptr) return nullptr;
  memcpy(made, text, length);
  made[length] = 0;
  return made;
}

/// What libc has allocated, in shared memory. Null stays null.
void* hand_over(void* what, size_t bytes, const void* caller) noexcept {
  if (what == nullptr || in_heap(what) || !for_program(caller)) return what;
  void* const made = allocate_shared(bytes);
  if (made != nullptr) memcpy(made, what, bytes);
  libc_free(what);
  return made;
}
char* hand_over(char* text, const void* caller) noexcept {
  return text == nullptr ? nullptr : static_cast<char*>(hand_over(text, strlen(text) + 1, caller));
}

/// `written`: what the call has returned.
int hand_over_written(char** to, int written, const void* caller) noexcept {
  if (written < 0) return written;
  *to = static_cast<char*>(hand_over(*to, static_cast<size_t>(written) + 1, caller));
  return *to == nullptr ? -1 : written;
}

}  // namespace

QUIRE_LIBC char* strdup(const char* text) noexcept { return copy(text, strlen(text), QUIRE_CALLER); }
QUIRE_LIBC char* __strdup(const char* text) noexcept { return copy(text, strlen(text), QUIRE_CALLER); }
QUIRE_LIBC char* strndup(const char* text, size_t most) noexcept {
  return copy(text, strnlen(text, most), QUIRE_CALLER);
}
QUIRE_LIBC char* __strndup(const char* text, size_t most) noexcept {
  return copy(text, strnlen(text, most), QUIRE_CALLER);
}
QUIRE_LIBC wchar_t* wcsdup(const wchar_t* text) noexcept {
  const size_t bytes = (wcslen(text) + 1) * sizeof *text;
  void* const made = allocate(bytes, QUIRE_CALLER);
  return made == nullptr ? nullptr : static_cast<wchar_t*>(memcpy(made, text, bytes));
}

QUIRE_LIBC int vasprintf(char** to, const char* format, va_list arguments) noexcept {
  return hand_over_written(to, QUIRE_NEXT(vasprintf)(to, format, arguments), QUIRE_CALLER);
}
QUIRE_LIBC int asprintf(char** to, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int written = QUIRE_NEXT(vasprintf)(to, format, arguments);
  va_end(arguments);
  return hand_over_written(to, written, QUIRE_CALLER);
}
QUIRE_LIBC int __vasprintf_chk(char** to, int flag, const char* format, va_list arguments) noexcept {
  return hand_over_written(to, QUIRE_NEXT(__vasprintf_chk)(to, flag, format, arguments), QUIRE_CALLER);
}
QUIRE_LIBC int __asprintf_chk(char** to, int flag, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int written = QUIRE_NEXT(__vasprintf_chk)(to, flag, format, arguments);
  va_end(arguments);
  return hand_over_written(to, written, QUIRE_CALLER);
}

namespace {

/// From a stream of another node: its text is private there.
ssize_t read_line_of(int node, char** own, int delimiter, FILE* from) noexcept {
  struct line {
    char* text;
    ssize_t length;
  };
  errand e(node);
  const line got = e.run([=] {
    char* text = nullptr;
    size_t room = 0;
    const ssize_t length = QUIRE_NEXT(getdelim)(&text, &room, delimiter, from);
    void* const shared = length >= 0 ? allocate_shared(static_cast<size_t>(length) + 1) : nullptr;
    if (shared != nullptr) memcpy(shared, text, static_cast<size_t>(length) + 1);
    libc_free(text);
    return line{static_cast<char*>(shared), shared != nullptr ? length : -1};
  });
  *own = got.text;
  return got.length;
}

/// The line comes to private memory first, as libc would make the caller's larger with private memory.
ssize_t read_line(char** line, size_t* room, int delimiter, FILE* from, const void* caller) noexcept {
  const int node = node_of(from, caller);
  if ((!for_program(caller) && node == here) || line == nullptr || room == nullptr)
    return QUIRE_NEXT(getdelim)(line, room, delimiter, from);
  char* own = nullptr;
  size_t own_room = 0;
  const ssize_t length =
      node != here ? read_line_of(node, &own, delimiter, from) : QUIRE_NEXT(getdelim)(&own, &own_room, delimiter, from);
  if (length >= 0) {
    const size_t needed = static_cast<size_t>(length) + 1;
    if (*line == nullptr || *room < needed) {
      const size_t more = needed < 120 ? 120 : 2 * needed;
      void* const made = realloc(*line, more);
      if (made == nullptr) return free(own), -1;
      *line = static_cast<char*>(made);
      *room = more;
    }
    memcpy(*line, own, needed);
  }
  free(own);
  return length;
}

}  // namespace

QUIRE_LIBC ssize_t getline(char** line, size_t* room, FILE* from) {
  const cancellation_point<> point(QUIRE_CALLER);
  return read_line(line, room, '\n', from, QUIRE_CALLER);
}
QUIRE_LIBC ssize_t getdelim(char** line, size_t* room, int delimiter, FILE* from) {
  const cancellation_point<> point(QUIRE_CALLER);
  return read_line(line, room, delimiter, from, QUIRE_CALLER);
}
QUIRE_LIBC ssize_t __getdelim(char** line, size_t* room, int delimiter, FILE* from) {
  const cancellation_point<> point(QUIRE_CALLER);
  return read_line(line, room, delimiter, from, QUIRE_CALLER);
}

namespace {

/// Names are node 0's. A text of libc's there, in shared memory.
template <class Call>
char* text_of(int node, const char* name, Call call) noexcept {
  errand e(node);
  const char* const there = e.take(name);
  return e.run([=] {
    char* const text = call(there);
    char* const shared = text == nullptr ? nullptr : static_cast<char*>(allocate_shared(strlen(text) + 1));
    if (shared != nullptr) strcpy(shared, text);
    libc_free(text);
    return shared;
  });
}
/// In the caller's memory, if there is room for it.
char* move_to(char* to, size_t bytes, char* shared) noexcept {
  if (to == nullptr || shared == nullptr) return shared;
  const bool fits = strlen(shared) < bytes;
  if (fits) strcpy(to, shared);
  free(shared);
  if (!fits) errno = ERANGE;
  return fits ? to : nullptr;
}

char* find_path(const char* path, char* to, const void* caller) noexcept {
  const int node = node_of(new_one(), caller);
  if (node != here)
    return move_to(to, PATH_MAX,
                   text_of(node, path, [](const char* there) { return QUIRE_NEXT(realpath)(there, nullptr); }));
  char* const found = QUIRE_NEXT(realpath)(path, to);
  return to != nullptr ? found : hand_over(found, caller);
}
char* find_directory(char* to, size_t bytes, const void* caller) noexcept {
  const int node = node_of(new_one(), caller);
  if (node != here) {
    if (to != nullptr && bytes == 0) return errno = EINVAL, nullptr;
    char* const now = text_of(node, nullptr, [](const char*) { return QUIRE_NEXT(getcwd)(nullptr, 0); });
    if (to != nullptr || bytes == 0 || now == nullptr) return move_to(to, bytes, now);
    return move_to(static_cast<char*>(allocate_shared(bytes)), bytes, now);
  }
  char* const found = QUIRE_NEXT(getcwd)(to, bytes);
  if (to != nullptr || found == nullptr) return found;
  const size_t length = strlen(found) + 1;
  return static_cast<char*>(hand_over(found, bytes > length ? bytes : length, caller));
}

}  // namespace

QUIRE_LIBC char* realpath(const char* path, char* to) noexcept { return find_path(path, to, QUIRE_CALLER); }
QUIRE_LIBC char* canonicalize_file_name(const char* path) noexcept { return find_path(path, nullptr, QUIRE_CALLER); }
QUIRE_LIBC char* getcwd(char* to, size_t bytes) noexcept { return find_directory(to, bytes, QUIRE_CALLER); }
// What a program built with _FORTIFY_SOURCE calls instead.
QUIRE_LIBC char* __realpath_chk(const char* path, char* to, size_t room) noexcept {
  if (room < PATH_MAX) __chk_fail();
  return find_path(path, to, QUIRE_CALLER);
}
QUIRE_LIBC char* __getcwd_chk(char* to, size_t bytes, size_t room) noexcept {
  if (bytes > room) __chk_fail();
  return find_directory(to, bytes, QUIRE_CALLER);
}
QUIRE_LIBC char* get_current_dir_name() noexcept { return hand_over(QUIRE_NEXT(get_current_dir_name)(), QUIRE_CALLER); }
/// A name that nothing has on node 0.
QUIRE_LIBC char* tempnam(const char* directory, const char* prefix) noexcept {
  const int node = node_of(new_one(), QUIRE_CALLER);
  if (node == here) return hand_over(QUIRE_NEXT(tempnam)(private_text(directory).get(), prefix), QUIRE_CALLER);
  errand e(node);
  const char* const there = e.take(directory);
  const char* const prefix_there = e.take(prefix);
  return e.run([=] {
    char* const text = QUIRE_NEXT(tempnam)(private_text(there).get(), prefix_there);
    char* const shared = text == nullptr ? nullptr : static_cast<char*>(allocate_shared(strlen(text) + 1));
    if (shared != nullptr) strcpy(shared, text);
    libc_free(text);
    return shared;
  });
}
// What a program built with _FORTIFY_SOURCE calls, or an old one.
QUIRE_LIBC char* getwd(char* to) noexcept { return find_directory(to, PATH_MAX, QUIRE_CALLER); }
QUIRE_LIBC char* __getwd_chk(char* to, size_t room) noexcept {
  char* const found = find_directory(to, room < PATH_MAX ? room : PATH_MAX, QUIRE_CALLER);
  if (found == nullptr && errno == ERANGE && room < PATH_MAX) __chk_fail();
  return found;
}

namespace {

int hand_over_entries(dirent*** list, int count, const void* caller) noexcept {
  if (count < 0 || !for_program(caller)) return count;
  for (int i = 0; i < count; ++i) {
    dirent*& one = (*list)[i];
    one = static_cast<dirent*>(hand_over(one, one->d_reclen, caller));
    if (one == nullptr) return -1;
  }
  *list = static_cast<dirent**>(hand_over(*list, (static_cast<size_t>(count) + 1) * sizeof **list, caller));
  return *list == nullptr ? -1 : count;
}

using filter_function = int (*)(const dirent*);
using compare_function = int (*)(const dirent**, const dirent**);

/// All entries of a directory of node 0, in shared memory; -1, and errno. `list` is shared.
int all_entries(int at, const char* directory, dirent*** list) noexcept {
  dirent** own = nullptr;
  const private_text name(directory);
  const int count = QUIRE_NEXT(scandirat)(at, name.get(), &own, nullptr, nullptr);
  if (count < 0) return count;
  *list = static_cast<dirent**>(allocate_shared((static_cast<size_t>(count) + 1) * sizeof **list));
  bool all = *list != nullptr;
  for (int i = 0; i < count; ++i) {
    void* const one = all ? allocate_shared(own[i]->d_reclen) : nullptr;
    all = one != nullptr;
    if (all) (*list)[i] = static_cast<dirent*>(memcpy(one, own[i], own[i]->d_reclen));
    libc_free(own[i]);
  }
  libc_free(own);
  if (!all) errno = ENOMEM;
  return all ? count : -1;
}

/// The caller's functions choose, and order, what node 0 has found.
int scan_there(int node, int at, const char* directory, dirent*** list, filter_function filter,
               compare_function compare) {
  struct found {
    int count;
    dirent** list;
  };
  const found all = [&] {
    errand e(node);
    const char* const there = e.take(directory);
    return e.run([=] {
      found f{};
      f.count = all_entries(at, there, &f.list);
      return f;
    });
  }();
  if (all.count < 0) return all.count;
  int kept = 0;
  for (int i = 0; i < all.count; ++i) {
    if (filter == nullptr || filter(all.list[i]) != 0)
      all.list[kept++] = all.list[i];
    else
      free(all.list[i]);
  }
  if (compare != nullptr && kept > 1) {
    ::qsort(all.list, static_cast<size_t>(kept), sizeof *all.list,
            reinterpret_cast<int (*)(const void*, const void*)>(compare));
  }
  *list = all.list;
  return kept;
}
int scan_directory(int at, const char* directory, dirent*** list, filter_function filter, compare_function compare,
                   const void* caller) {
  const int node = node_of(new_one(), caller);
  if (node != here) return scan_there(node, at, directory, list, filter, compare);
  const private_text name(directory);
  return hand_over_entries(list, QUIRE_NEXT(scandirat)(at, name.get(), list, filter, compare), caller);
}

}  // namespace

QUIRE_LIBC int scandir(const char* directory, dirent*** list, filter_function filter, compare_function compare) {
  return scan_directory(AT_FDCWD, directory, list, filter, compare, QUIRE_CALLER);
}
QUIRE_LIBC int scandirat(int at, const char* directory, dirent*** list, filter_function filter,
                         compare_function compare) {
  return scan_directory(at, directory, list, filter, compare, QUIRE_CALLER);
}
/// The same structure on this machine.
QUIRE_LIBC int quire_scandir64(const char* directory, dirent*** list, filter_function filter,
                               compare_function compare) asm("scandir64");
int quire_scandir64(const char* directory, dirent*** list, filter_function filter, compare_function compare) {
  return scan_directory(AT_FDCWD, directory, list, filter, compare, QUIRE_CALLER);
}
QUIRE_LIBC int quire_scandirat64(int at, const char* directory, dirent*** list, filter_function filter,
                                 compare_function compare) asm("scandirat64");
int quire_scandirat64(int at, const char* directory, dirent*** list, filter_function filter, compare_function compare) {
  return scan_directory(at, directory, list, filter, compare, QUIRE_CALLER);
}
