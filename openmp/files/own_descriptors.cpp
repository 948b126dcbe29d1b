// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/files/own_descriptors.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "openmp/files/at_owner.hpp"

namespace quire::openmp {
namespace {

constexpr int most = 1024;
std::array<bool, most> g_inherited;
std::array<std::atomic<bool>, most> g_own;

bool is_open(int fd) noexcept { return QUIRE_NEXT(fcntl)(fd, F_GETFD) != -1; }

}  // namespace

void note_inherited_descriptors() noexcept {
  const int saved = errno;
  for (int fd = 0; fd < most; ++fd) g_inherited[static_cast<std::size_t>(fd)] = is_open(fd);
  const char* const launcher = ::getenv("QUIRE_JOB_FD");
  const int fd = launcher != nullptr ? ::atoi(launcher) : -1;
  if (fd >= 0 && fd < most) g_inherited[static_cast<std::size_t>(fd)] = false;
  errno = saved;
}

void note_own_descriptors() noexcept {
  const int saved = errno;
  for (int fd = 3; fd < most; ++fd) g_own[static_cast<std::size_t>(fd)] = !g_inherited[static_cast<std::size_t>(fd)] && is_open(fd);
  errno = saved;
}

bool is_own_descriptor(int fd) noexcept { return fd >= 0 && fd < most && g_own[static_cast<std::size_t>(fd)]; }

namespace {

int none() noexcept {
  errno = EBADF;
  return -1;
}

/// All but these.
int close_from_to(unsigned first, unsigned last, int flags) noexcept {
  for (unsigned fd = first; fd <= last && fd < most; ++fd) {
    if (!is_own_descriptor(static_cast<int>(fd))) continue;
    if (fd > first && QUIRE_NEXT(close_range)(first, fd - 1, flags) != 0) return -1;
    first = fd + 1;
  }
  return first <= last ? QUIRE_NEXT(close_range)(first, last, flags) : 0;
}

}  // namespace
}  // namespace quire::openmp

using namespace quire::openmp;

// Of the program: on its own node, or by a clerk. A number of Quire's is one that is not open.
QUIRE_LIBC int close(int fd) {
  const int node = node_of(fd, QUIRE_CALLER);
  if (node != here) return errand(node).run([=] { return is_own_descriptor(fd) ? none() : QUIRE_NEXT(close)(fd); });
  if (!is_own_descriptor(fd)) return QUIRE_NEXT(close)(fd);
  if (is_of_program(QUIRE_CALLER)) return none();
  if (files::is_node()) g_own[static_cast<std::size_t>(fd)] = false;  // its number may be the program's next
  return QUIRE_NEXT(close)(fd);
}

namespace {

/// A copy of standard output is a descriptor like others.
bool is_of_output(int fd) noexcept { return fd == 1 || fd == 2; }
/// A child of vfork(2) on another node than node 0 has that node's descriptors; the program's number is another file there.
bool is_in_other_child(int fd, const void* caller) noexcept {
  return files::apart && fd > 2 && job().node != 0 && is_of_program(caller) && !files::is_node();
}
template <class Copy>
int copy_to(int fd, int to, const void* caller, Copy copy) noexcept {
  if (is_in_other_child(fd, caller)) return refuse("dup2() in a child of vfork()"), -1;
  const int node = !is_of_output(fd) ? node_of(fd, caller) : is_of_output(to) ? here : node_of(new_one(), caller);
  if (node != here) return errand(node).run([=] { return is_own_descriptor(to) ? none() : copy(); });
  return is_own_descriptor(to) && is_of_program(caller) && files::is_node() ? none() : copy();
}

}  // namespace
QUIRE_LIBC int dup2(int fd, int to) noexcept {
  return copy_to(fd, to, QUIRE_CALLER, [=] { return QUIRE_NEXT(dup2)(fd, to); });
}
QUIRE_LIBC int dup3(int fd, int to, int flags) noexcept {
  return copy_to(fd, to, QUIRE_CALLER, [=] { return QUIRE_NEXT(dup3)(fd, to, flags); });
}
QUIRE_LIBC int close_range(unsigned first, unsigned last, int flags) noexcept {
  const int node = node_of(new_one(), QUIRE_CALLER);
  if (node != here) return errand(node).run([=] { return close_from_to(first, last, flags); });
  return is_of_program(QUIRE_CALLER) ? close_from_to(first, last, flags) : QUIRE_NEXT(close_range)(first, last, flags);
}
QUIRE_LIBC void closefrom(int first) noexcept {
  const int node = node_of(new_one(), QUIRE_CALLER);
  const auto lowest = static_cast<unsigned>(first < 0 ? 0 : first);
  if (node != here) return (void)errand(node).run([=] { return close_from_to(lowest, ~0u, 0); });
  if (is_of_program(QUIRE_CALLER)) return (void)close_from_to(lowest, ~0u, 0);
  QUIRE_NEXT(closefrom)(first);
}
