// SPDX-License-Identifier: BSD-3-Clause
// Directories that are read: handles of libc on node 0, as streams are.
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include <mutex>

#include "program/posix/errands/at_owner.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/process/private_memory.hpp"

using namespace quire::program;

namespace {

/// Where the entry of a directory lies that readdir(3) has given: one for each directory, as in a plain program, in
/// shared memory, as any thread may look at it. Of a node that has opened it.
struct kept_entry {
  const DIR* of;
  dirent* at;
  kept_entry* next;
};
std::mutex g_guard;
kept_entry* g_kept = nullptr;
static_assert(sizeof(dirent) == sizeof(dirent64));

kept_entry** find(const DIR* directory) noexcept {
  kept_entry** at = &g_kept;
  while (*at != nullptr && (*at)->of != directory) at = &(*at)->next;
  return at;
}
/// Null: there is no memory.
dirent* entry_of(const DIR* directory) noexcept {
  const std::lock_guard held(g_guard);
  if (kept_entry* const found = *find(directory); found != nullptr) return found->at;
  auto* const made = static_cast<dirent*>(allocate_shared(sizeof(dirent)));
  if (made != nullptr) g_kept = make_private<kept_entry>(directory, made, g_kept);
  return made;
}
void forget_entry(const DIR* directory) noexcept {
  const std::lock_guard held(g_guard);
  kept_entry** const at = find(directory);
  kept_entry* const found = *at;
  if (found == nullptr) return;
  *at = found->next;
  (void)quire_free(found->at);
  destroy_private(found);
}
int close_own(DIR* directory) noexcept {
  if (files::apart && files::is_node()) forget_entry(directory);
  return QUIRE_NEXT(closedir)(directory);
}

void copy_entry(dirent* to, const dirent* from) noexcept {
  memcpy(static_cast<void*>(to), from, from->d_reclen < sizeof *to ? from->d_reclen : sizeof *to);
}
/// Null at the end, or for an error.
dirent* read_own(DIR* directory, dirent* copy) noexcept {
  const dirent* const next = QUIRE_NEXT(readdir)(directory);
  dirent* const at = next != nullptr ? entry_of(directory) : nullptr;
  if (at != nullptr) copy_entry(copy != nullptr ? copy : at, next);
  return at;
}
/// The entry travels with the call, and is put into its place here, where it is looked at.
dirent* read_there(int node, DIR* directory) noexcept {
  errand e(node);
  dirent own;
  dirent* const room = e.room_for(&own, sizeof own);
  dirent* const at = e.run([=] { return read_own(directory, room); });
  if (at != nullptr) copy_entry(at, room);
  return at;
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/// readdir_r(3): the entry is the caller's own.
int copy_there(int node, DIR* directory, dirent* entry, dirent** result) noexcept {
  struct outcome {
    int error;
    bool found;
  };
  errand e(node);
  dirent own;
  dirent* const room = e.room_for(&own, sizeof own);
  const outcome done = e.run([=] {
    dirent* found = nullptr;
    const int error = QUIRE_NEXT(readdir_r)(directory, room, &found);
    return outcome{error, found != nullptr};
  });
  if (done.found) copy_entry(entry, room);
  *result = done.found ? entry : nullptr;
  return done.error;
}
#pragma GCC diagnostic pop
bool is_shared_here(const void* caller) noexcept { return files::apart && is_of_program(caller) && files::is_node(); }

}  // namespace

QUIRE_AT_OWNER_WITH(DIR*, opendir, (const char* name), new_one(), (name), const char* const there = e.take(name),
                    (there), )
QUIRE_AT_OWNER(DIR*, fdopendir, (int fd), fd, (fd))
QUIRE_LIBC dirent* readdir(DIR* directory) {
  const int node = node_of(directory, QUIRE_CALLER);
  if (node != here) return read_there(node, directory);
  return is_shared_here(QUIRE_CALLER) ? read_own(directory, nullptr) : QUIRE_NEXT(readdir)(directory);
}
QUIRE_LIBC dirent64* readdir64(DIR* directory) {
  const int node = node_of(directory, QUIRE_CALLER);
  if (node != here) return reinterpret_cast<dirent64*>(read_there(node, directory));
  return is_shared_here(QUIRE_CALLER) ? reinterpret_cast<dirent64*>(read_own(directory, nullptr))
                                      : QUIRE_NEXT(readdir64)(directory);
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
QUIRE_LIBC int readdir_r(DIR* directory, dirent* entry, dirent** result) {
  const int node = node_of(directory, QUIRE_CALLER);
  return node == here ? QUIRE_NEXT(readdir_r)(directory, entry, result) : copy_there(node, directory, entry, result);
}
QUIRE_LIBC int readdir64_r(DIR* directory, dirent64* entry, dirent64** result) {
  const int node = node_of(directory, QUIRE_CALLER);
  if (node == here) return QUIRE_NEXT(readdir64_r)(directory, entry, result);
  return copy_there(node, directory, reinterpret_cast<dirent*>(entry), reinterpret_cast<dirent**>(result));
}
#pragma GCC diagnostic pop
QUIRE_LIBC int closedir(DIR* directory) {
  const int node = node_of(directory, QUIRE_CALLER);
  return node == here ? close_own(directory) : errand(node).run([=] { return close_own(directory); });
}
QUIRE_AT_OWNER(int, dirfd, (DIR * directory), directory, (directory), noexcept)
QUIRE_AT_OWNER(long, telldir, (DIR * directory), directory, (directory), noexcept)
QUIRE_AT_OWNER_VOID(seekdir, (DIR * directory, long at), directory, (directory, at), noexcept)
QUIRE_AT_OWNER_VOID(rewinddir, (DIR * directory), directory, (directory), noexcept)
