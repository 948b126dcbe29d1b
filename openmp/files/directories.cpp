// SPDX-License-Identifier: BSD-3-Clause
// Directories that are read: handles of libc on node 0, as streams are.
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "openmp/files/at_owner.hpp"

using namespace quire::openmp;

namespace {

/// Until the thread's next call, here; until the next one for that directory, in a plain program.
thread_local dirent t_entry;
static_assert(sizeof(dirent) == sizeof(dirent64));

dirent* read_there(int node, DIR* directory) noexcept {
  errand e(node);
  dirent* const there = e.room_for(&t_entry, sizeof t_entry);
  const bool found = e.run([=] {
    const dirent* const next = QUIRE_NEXT(readdir)(directory);
    if (next != nullptr) memcpy(static_cast<void*>(there), next, next->d_reclen < sizeof *there ? next->d_reclen : sizeof *there);
    return next != nullptr;
  });
  if (!found) return nullptr;
  e.bring(&t_entry, there, sizeof t_entry);
  return &t_entry;
}

}  // namespace

QUIRE_AT_OWNER_WITH(DIR*, opendir, (const char* name), new_one(), (name), const char* const there = e.take(name), (there), )
QUIRE_AT_OWNER(DIR*, fdopendir, (int fd), fd, (fd))
QUIRE_LIBC dirent* readdir(DIR* directory) {
  const int node = node_of(directory, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(readdir)(directory) : read_there(node, directory);
}
QUIRE_LIBC dirent64* readdir64(DIR* directory) {
  const int node = node_of(directory, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(readdir64)(directory) : reinterpret_cast<dirent64*>(read_there(node, directory));
}
QUIRE_AT_OWNER(int, closedir, (DIR* directory), directory, (directory))
QUIRE_AT_OWNER(int, dirfd, (DIR* directory), directory, (directory), noexcept)
QUIRE_AT_OWNER(long, telldir, (DIR* directory), directory, (directory), noexcept)
QUIRE_AT_OWNER_VOID(seekdir, (DIR* directory, long at), directory, (directory, at), noexcept)
QUIRE_AT_OWNER_VOID(rewinddir, (DIR* directory), directory, (directory), noexcept)
