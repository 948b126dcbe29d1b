// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/errands/where.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/job/job.hpp"
#include "program/posix/memory/own_addresses.hpp"
#include "program/process/modules.hpp"

namespace quire::program {

bool files::apart = false;

namespace {

span g_fortran;  ///< libgfortran's code: its units are of each node
pid_t g_process = 0;

bool is_in_programs_code(const void* caller) noexcept {
  const auto at = reinterpret_cast<std::uint64_t>(caller);
  for (const module& m : modules()) {
    if (m.programs && at >= m.code_first && at < m.code_end) return true;
  }
  return false;
}

}  // namespace

/// Handlers of signals run on private stacks, as Quire itself does, and what it stands on. A call that ends the
/// function of a region seems to come from this library.
bool is_of_program(const void* caller) noexcept {
  if (g_fortran.has(caller)) return false;
  return for_program(caller) || (from_program(caller) && is_in_programs_code(caller));
}

bool files::is_node() noexcept { return static_cast<pid_t>(::syscall(SYS_getpid)) == g_process; }

int files::find_descriptor(const void* caller) noexcept {
  return job().node != 0 && is_of_program(caller) && files::is_node() ? 0 : here;
}

/// Addresses below all nodes' own are those of libc's first heap, which nodes have at the same place.
int files::find_stream(const void* handle, const void* caller) noexcept {
  if (handle == nullptr) return here;
  const int node = node_of_private(reinterpret_cast<std::uint64_t>(handle));
  if (node < 0) return find_descriptor(caller);
  return node == job().node || !is_node() ? here : node;
}

void refuse(const char* call) noexcept {
  char line[200];
  const int length = ::snprintf(
      line, sizeof line, "quire: node %d: %s is refused: files are of node 0 (program/README.md)\n", job().node, call);
  (void)!::write(2, line, static_cast<size_t>(length));
  errno = ENOTSUP;
}

void open_files() noexcept {
  const void* const fortran = ::dlsym(RTLD_DEFAULT, "_gfortran_get_command_argument_i4");
  if (fortran != nullptr) g_fortran = code_around(fortran);
  g_process = ::getpid();
  files::apart = job().nodes > 1;
}

void close_files() noexcept { files::apart = false; }

}  // namespace quire::program
