// SPDX-License-Identifier: BSD-3-Clause
// The working directory, the mask of new files and the locale.
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "openmp/files/at_owner.hpp"
#include "openmp/files/on_all_nodes.hpp"

using namespace quire::openmp;

namespace {

/// Node 0 has gone to a directory: the others, whose own files libc opens by name, follow as well as they can.
void follow(const char* directory) noexcept {
  const int saved = errno;
  for (int node = 1; node < job().nodes; ++node) {
    if (call_with_texts(node, [](const char* there) { return QUIRE_NEXT(chdir)(there); }, directory) == 0) continue;
    ::fprintf(stderr, "quire: node %d cannot follow to %s (%s)\n", node, directory, ::strerror(errno));
  }
  errno = saved;
}

struct path {
  char* text;  ///< shared; null: there is none
};
/// Node 0's, by an absolute name.
void follow_node_0() noexcept {
  const path now = call_on_node(0, [] {
    char text[PATH_MAX];
    char* const shared = QUIRE_NEXT(getcwd)(text, sizeof text) != nullptr ? static_cast<char*>(allocate_shared(::strlen(text) + 1)) : nullptr;
    return path{shared != nullptr ? ::strcpy(shared, text) : nullptr};
  });
  if (now.text == nullptr) return;
  follow(now.text);
  (void)quire_free(now.text);
}

}  // namespace

QUIRE_LIBC int chdir(const char* name) noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(chdir)(name);
  const process_turn mine;
  const int result = call_with_texts(0, [](const char* there) { return QUIRE_NEXT(chdir)(there); }, name);
  if (result == 0) follow_node_0();
  return result;
}
QUIRE_LIBC int fchdir(int fd) noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(fchdir)(fd);
  const process_turn mine;
  const int result = call_on_node(0, [=] { return QUIRE_NEXT(fchdir)(fd); });
  if (result == 0) follow_node_0();
  return result;
}

QUIRE_LIBC mode_t umask(mode_t mask) noexcept {
  if (!is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(umask)(mask);
  const process_turn mine;
  return call_on_all([=] { return QUIRE_NEXT(umask)(mask); });
}

/// Without a name it tells, and changes nothing.
QUIRE_LIBC char* setlocale(int category, const char* name) noexcept {
  if (name == nullptr || !is_for_all_nodes(QUIRE_CALLER)) return QUIRE_NEXT(setlocale)(category, name);
  const process_turn mine;
  return call_on_all([=](const char* there) { return QUIRE_NEXT(setlocale)(category, there); }, name);
}
