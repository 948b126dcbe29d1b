// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/files/own_descriptors.hpp"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <initializer_list>

#include "program/posix/errands/at_owner.hpp"

namespace quire::program {
namespace {

constexpr int most = 1024;
std::array<bool, most> g_inherited;

/// A mark, and the file that has had it: where another one has the number now, libc or the kernel has closed the first
/// one.
struct mark {
  std::atomic<bool> set{false};
  std::atomic<dev_t> device{0};
  std::atomic<ino_t> number{0};
};
std::array<mark, most> g_own;

/// Code of Quire's, and of what it stands on.
constexpr std::size_t most_modules = 32;
std::array<span, most_modules> g_code;
std::size_t g_code_count = 0;

bool is_open(int fd) noexcept { return QUIRE_NEXT(fcntl)(fd, F_GETFD) != -1; }

bool find_file(int fd, dev_t& device, ino_t& number) noexcept {
  struct stat64 about {};
  if (QUIRE_NEXT(fstat64)(fd, &about) != 0) return false;
  device = about.st_dev;
  number = about.st_ino;
  return true;
}

void set_mark(int fd) noexcept {
  mark& m = g_own[static_cast<std::size_t>(fd)];
  dev_t device = 0;
  ino_t number = 0;
  if (!find_file(fd, device, number)) return;
  m.device = device;
  m.number = number;
  m.set = true;
}

bool is_quires(const char* path) noexcept {
  const char* const slash = ::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  for (const char* const begin : {"libquire", "libucp", "libucs", "libuct", "libucm", "libpmix", "libevent"}) {
    if (::strncmp(name, begin, ::strlen(begin)) == 0) return true;
  }
  return false;
}

void note_code() noexcept {
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void*) {
        if (module->dlpi_name == nullptr || !is_quires(module->dlpi_name)) return 0;
        for (const ElfW(Phdr)* h = module->dlpi_phdr; h != module->dlpi_phdr + module->dlpi_phnum; ++h) {
          if (h->p_type == PT_LOAD && (h->p_flags & PF_X) != 0 && g_code_count < most_modules)
            g_code[g_code_count++] = {module->dlpi_addr + h->p_vaddr, h->p_memsz};
        }
        return 0;
      },
      nullptr);
}
bool is_quires_code(const void* caller) noexcept {
  for (std::size_t i = 0; i < g_code_count; ++i) {
    if (g_code[i].has(caller)) return true;
  }
  return false;
}

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
  note_code();
  for (int fd = 3; fd < most; ++fd) {
    if (!g_inherited[static_cast<std::size_t>(fd)]) set_mark(fd);
  }
  errno = saved;
}

int given_to(const void* caller, int fd) noexcept {
  if (!files::apart || fd < 3 || fd >= most) return fd;
  const int saved = errno;
  const bool quires = caller != nullptr && is_quires_code(caller);
  mark& m = g_own[static_cast<std::size_t>(fd)];
  if ((quires || m.set) && files::is_node()) quires ? set_mark(fd) : m.set.store(false);
  errno = saved;
  return fd;
}
int given_to(const void* caller, int result, const int* two) noexcept {
  if (result == 0) (void)given_to(caller, two[0]), (void)given_to(caller, two[1]);
  return result;
}

bool is_own_descriptor(int fd) noexcept {
  if (fd < 0 || fd >= most) return false;
  mark& m = g_own[static_cast<std::size_t>(fd)];
  if (!m.set) return false;
  const int saved = errno;
  dev_t device = 0;
  ino_t number = 0;
  const bool same = find_file(fd, device, number) && device == m.device && number == m.number;
  if (!same && files::is_node()) m.set = false;
  errno = saved;
  return same;
}

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
}  // namespace quire::program

using namespace quire::program;

// Of the program: on its own node, or by a clerk. A number of Quire's is one that is not open.
QUIRE_LIBC int close(int fd) {
  const cancellation_point<> point(QUIRE_CALLER);
  const int node = node_of(fd, QUIRE_CALLER);
  if (node != here) return errand(node).run([=] { return is_own_descriptor(fd) ? none() : QUIRE_NEXT(close)(fd); });
  if (!is_own_descriptor(fd)) return QUIRE_NEXT(close)(fd);
  if (is_of_program(QUIRE_CALLER) && !is_quires_code(QUIRE_CALLER)) return none();
  if (files::is_node()) g_own[static_cast<std::size_t>(fd)].set = false;  // its number may be the program's next
  return QUIRE_NEXT(close)(fd);
}

namespace {

/// A copy of standard output is a descriptor like others.
bool is_of_output(int fd) noexcept { return fd == 1 || fd == 2; }
/// A child of vfork(2) on another node than node 0 has that node's descriptors; the program's number is another file
/// there.
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
