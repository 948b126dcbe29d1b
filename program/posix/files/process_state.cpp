// SPDX-License-Identifier: BSD-3-Clause
// The working directory, the mask of new files and the locale: of all nodes, or the call fails and says which node
// cannot have it.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/posix/errands/at_owner.hpp"
#include "program/posix/errands/on_all_nodes.hpp"
#include "program/posix/files/process_state.hpp"
#include "program/posix/heap/heap.hpp"

using namespace quire::program;

namespace quire::program {

void tell_difference(int node, const char* call, int error, const char* consequence) noexcept {
  char line[PATH_MAX + 300];
  const int length =
      ::snprintf(line, sizeof line, "quire: node %d: %s fails there, not on node 0 (%s): %s (program/README.md)\n",
                 node, call, ::strerror(error), consequence);
  (void)!::write(2, line, ::strnlen(line, static_cast<size_t>(length)));
}

/// What node 0 has begun with, whatever shell of another host has started a node there.
void share_mask() noexcept {
  const mode_t mask = QUIRE_NEXT(umask)(0);
  (void)QUIRE_NEXT(umask)(mask);
  for (int node = 1; node < job().nodes; ++node) (void)call_on_node(node, [=] { return QUIRE_NEXT(umask)(mask); });
}

}  // namespace quire::program

namespace {

struct path {
  char* text;  ///< shared; null: there is none, and errno
};
/// Null too if the memory of the job is full.
path share_text(const char* text) noexcept {
  char* const shared = text != nullptr ? static_cast<char*>(allocate_shared(::strlen(text) + 1)) : nullptr;
  return path{shared != nullptr ? ::strcpy(shared, text) : nullptr};
}

// What a node had before the change that is under way, so that it can go back. Of one such change at a time; private.
int g_directory_before = -1;
char g_locale_before[PATH_MAX];

template <class Go>
int leave(Go go) noexcept {
  g_directory_before = QUIRE_NEXT(open)(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return go();
}
/// -1: it cannot.
int go_back() noexcept { return QUIRE_NEXT(fchdir)(g_directory_before); }
void forget_directory() noexcept {
  const int saved = errno;
  if (g_directory_before >= 0) (void)QUIRE_NEXT(close)(g_directory_before);
  g_directory_before = -1;
  errno = saved;
}

/// Node `node` cannot follow; those below it have.
void all_go_back(int node, const char* directory, int error) noexcept {
  char call[PATH_MAX + 20];
  (void)::snprintf(call, sizeof call, "chdir(\"%.*s\")", PATH_MAX, directory);
  tell_difference(node, call, error, "so it fails, and all nodes stay where they are");
  for (int other = 0; other < node; ++other) {
    if (call_on_node(other, [] { return go_back(); }) != 0)
      tell_difference(other, "the way back from a directory", errno, "the nodes differ now");
  }
}

/// Node 0 has gone to a directory: the others, whose own files libc opens by name, follow by its absolute name, or node
/// 0 goes back.
int follow_node_0() noexcept {
  const path now = call_on_node(0, [] {
    char text[PATH_MAX];
    return share_text(QUIRE_NEXT(getcwd)(text, sizeof text));
  });
  int error = now.text == nullptr ? errno : 0;
  if (error != 0) all_go_back(1, "", error);
  for (int node = 1; node < job().nodes && error == 0; ++node) {
    const int done = call_with_texts(
        node, [](const char* there) { return leave([=] { return QUIRE_NEXT(chdir)(there); }); }, now.text);
    if (done == 0) continue;
    error = errno;
    all_go_back(node, now.text, error);
  }
  for (int node = 1; node < job().nodes; ++node) (void)call_on_node(node, [] { return forget_directory(), 0; });
  if (now.text != nullptr) (void)quire_free(now.text);
  errno = error;
  return error == 0 ? 0 : -1;
}
int finish_change(int result) noexcept {
  const int saved = errno;
  if (result == 0) result = follow_node_0();
  const int error = result == 0 ? saved : errno;
  (void)call_on_node(0, [] { return forget_directory(), 0; });
  errno = result == 0 ? saved : error;
  return result;
}

}  // namespace

QUIRE_LIBC int chdir(const char* name) noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(chdir)(name);
  const process_turn mine;
  return finish_change(call_with_texts(
      0, [](const char* there) { return leave([=] { return QUIRE_NEXT(chdir)(there); }); }, name));
}
QUIRE_LIBC int fchdir(int fd) noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(fchdir)(fd);
  const process_turn mine;
  return finish_change(call_on_node(0, [=] { return leave([=] { return QUIRE_NEXT(fchdir)(fd); }); }));
}

/// New files are node 0's: so is the mask that they were made with.
QUIRE_LIBC mode_t umask(mode_t mask) noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(umask)(mask);
  const process_turn mine;
  const mode_t before = call_on_node(0, [=] { return QUIRE_NEXT(umask)(mask); });
  for (int node = 1; node < job().nodes; ++node) (void)call_on_node(node, [=] { return QUIRE_NEXT(umask)(mask); });
  return before;
}

namespace {

char* set_locale(int category, const char* name) noexcept {
  const char* const now = QUIRE_NEXT(setlocale)(category, nullptr);
  (void)::snprintf(g_locale_before, sizeof g_locale_before, "%s", now != nullptr ? now : "C");
  return QUIRE_NEXT(setlocale)(category, name);
}
/// On all nodes by the name that it has on node 0, where "" was some variable's value; or on none.
char* set_locale_of_all(int category, const char* name) noexcept {
  struct on_node_0 {
    char *result, *name;
  };
  const on_node_0 first = call_with_texts(
      0,
      [=](const char* there) {
        char* const now = set_locale(category, there);
        return on_node_0{now, share_text(now).text};
      },
      name);
  if (first.name == nullptr) return nullptr;
  char* own = first.result;
  for (int node = 1; node < job().nodes && own != nullptr; ++node) {
    char* const now = call_with_texts(
        node, [=](const char* there) { return set_locale(category, there); }, static_cast<const char*>(first.name));
    if (now != nullptr && node == job().node) own = now;
    if (now != nullptr) continue;
    own = nullptr;
    char call[300];
    (void)::snprintf(call, sizeof call, "setlocale(%d, \"%.200s\")", category, first.name);
    tell_difference(node, call, ENOENT, "so it fails, and all nodes keep the locale that they have");
    for (int other = 0; other < node; ++other) {
      (void)call_on_node(other, [=] { return QUIRE_NEXT(setlocale)(category, g_locale_before) != nullptr; });
    }
  }
  (void)quire_free(first.name);
  return own;
}

}  // namespace

/// Without a name it tells, and changes nothing.
QUIRE_LIBC char* setlocale(int category, const char* name) noexcept {
  if (name == nullptr || !is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(setlocale)(category, name);
  const process_turn mine;
  return set_locale_of_all(category, name);
}
