// SPDX-License-Identifier: BSD-3-Clause
// Which pool.
#include <cerrno>

#include "base/log.hpp"
#include "os/limits.hpp"
#include "os/segments.hpp"
#include "pool/two_views.hpp"

namespace quire::pool {

const char* name_of(kind which) noexcept {
  switch (which) {
    case kind::memfd:
      return "memfd";
    case kind::file:
      return "file";
    case kind::posix:
      return "posix";
    case kind::sysv:
      return "sysv";
    case kind::mdup:
      return "mdup";
    case kind::fork:
      break;
  }
  return "fork";
}

const char* when_full(kind which) noexcept {
  switch (which) {
    case kind::posix:
      return "/dev/shm is full: make it larger (mount -o remount,size=SIZE /dev/shm, docker run --shm-size SIZE), or "
             "set QUIRE_POOL=memfd, "
             "which does not depend on it";
    case kind::file:
      return "the file system of QUIRE_POOL_DIR is full: choose a directory with more room, or set QUIRE_POOL=memfd";
    default:
      return "the system has no memory left for it: set QUIRE_MEMORY_LIMIT to less, or use more nodes";
  }
}

int pool::show(view_kind) noexcept { return EOPNOTSUPP; }
int pool::make_accessible() noexcept { return EOPNOTSUPP; }
int pool::own_frames(std::byte*&) noexcept { return EOPNOTSUPP; }

bool takes_private_copies(kind which) noexcept {
  return which == kind::memfd || which == kind::file || which == kind::posix;
}

namespace {

bool is_a_file(kind which) noexcept { return takes_private_copies(which); }

base::status can_have(view_kind view, kind which, const fine_views& fine) {
  if (view == view_kind::shared) return {};
  if (!takes_private_copies(which)) {
    base::log(base::log_level::error,
              "pool '%s' has no private copies of pages, which transactions need: the pools memfd, posix and file "
              "have; set QUIRE_POOL to one of them",
              name_of(which));
    return QUIRE_UNSUPPORTED;
  }
  if (fine.count == 0) return {};
  base::log(
      base::log_level::error,
      "a region with units smaller than a page (fine views) has no private copies of pages, which transactions need: "
      "make its units pages");
  return QUIRE_UNSUPPORTED;
}

}  // namespace

base::result<std::unique_ptr<pool>> make(const settings& how, std::uint64_t address, std::uint64_t bytes,
                                         bool accessible, const fine_views& fine, view_kind view) {
  if (const auto why = can_have(view, how.which, fine); !why.ok()) return why;
  if (is_a_file(how.which) && !os::file_may_have(bytes)) {
    base::log(base::log_level::error,
              "pool '%s' needs a larger file, or memory without a name, than there may be%s: set QUIRE_POOL to mdup",
              name_of(how.which), os::explain(os::shortage::file_size).text);
    return QUIRE_SYSTEM;
  }
  const request r{name_of(how.which), when_full(how.which), address, bytes, accessible, how.code, fine, view, how.runs};
  if (how.which == kind::memfd && how.host_file >= 0) return make_of_host(r, how);
  switch (how.which) {
    case kind::memfd:
      return make_memfd(r);
    case kind::file:
      return make_file(r, how);
    case kind::posix:
      return make_posix(r);
    case kind::sysv:
      return make_sysv(r, how);
    case kind::mdup:
      return make_mdup(r);
    case kind::fork:
      break;
  }
  return make_fork(r, how);
}

kind usual(std::uint64_t bytes) noexcept { return os::file_may_have(bytes) ? kind::memfd : kind::mdup; }

bool takes_userfault(const settings& how) noexcept {
  if (how.which == kind::file) return os::is_in_memory(os::temporary_directory(how.directory).c_str());
  return how.which != kind::sysv;
}

}  // namespace quire::pool
