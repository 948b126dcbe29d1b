// SPDX-License-Identifier: BSD-3-Clause
// What libfuse calls for requests of the kernel to a mount.
#include "mount/session.hpp"

#ifdef QUIRE_HAVE_FUSE
#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace quire::mount {
namespace {

// libfuse gives the session with each request; which library that is no function of ours would know otherwise.
const library* g_fuse = nullptr;
session& of(fuse_req_t request) { return *static_cast<session*>(g_fuse->req_userdata(request)); }

file_lock lock_of(std::uint64_t owner, const struct flock& asked) {
  const auto kind = asked.l_type == F_UNLCK   ? file_lock::kind::none
                    : asked.l_type == F_WRLCK ? file_lock::kind::exclusive
                                              : file_lock::kind::shared;
  const auto first = static_cast<std::uint64_t>(asked.l_start);
  return {owner, false, kind, first,
          asked.l_len == 0 ? last_byte : first + static_cast<std::uint64_t>(asked.l_len) - 1};
}

void refuse(fuse_req_t request, int error) { g_fuse->reply_err(request, error); }

}  // namespace

fuse_lowlevel_ops operations(const library& fuse) {
  g_fuse = &fuse;
  fuse_lowlevel_ops o{};
  o.init = [](void*, fuse_conn_info* connection) {
    connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
                                               FUSE_CAP_WRITEBACK_CACHE);
  };
  o.lookup = [](fuse_req_t r, fuse_ino_t parent, const char* name) {
    parent == root ? of(r).look_up(r, name) : refuse(r, ENOTDIR);
  };
  o.forget = [](fuse_req_t r, fuse_ino_t number, std::uint64_t look_ups) {
    of(r).names().forget(number, look_ups);
    g_fuse->reply_none(r);
  };
  o.getattr = [](fuse_req_t r, fuse_ino_t number, fuse_file_info*) { of(r).get_attributes(r, number); };
  o.setattr = [](fuse_req_t r, fuse_ino_t number, struct stat* wanted, int which, fuse_file_info* info) {
    of(r).set_attributes(r, number, *wanted, which, info);
  };
  o.open = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info) { of(r).open_file(r, number, info); };
  o.create = [](fuse_req_t r, fuse_ino_t, const char* name, mode_t mode, fuse_file_info* info) {
    of(r).create_file(r, name, mode, info);
  };
  o.read = [](fuse_req_t r, fuse_ino_t, std::size_t size, off_t at, fuse_file_info* info) {
    of(r).read_file(r, size, at, info);
  };
  o.write = [](fuse_req_t r, fuse_ino_t number, const char* from, std::size_t size, off_t at, fuse_file_info* info) {
    of(r).write_file(r, number, from, size, at, info);
  };
  o.flush = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info) { of(r).close_descriptor(r, number, info); };
  o.fsync = [](fuse_req_t r, fuse_ino_t, int, fuse_file_info* info) { of(r).sync_file(r, info, false); };
  o.release = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info) { of(r).release_file(r, number, info); };
  o.getlk = [](fuse_req_t r, fuse_ino_t, fuse_file_info* info, struct flock* asked) {
    of(r).test_lock(r, info, lock_of(info->lock_owner, *asked));
  };
  o.setlk = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info, struct flock* asked, int waits) {
    of(r).lock_file(r, number, info, lock_of(info->lock_owner, *asked), waits != 0);
  };
  o.flock = [](fuse_req_t r, fuse_ino_t number, fuse_file_info* info, int how) {
    const auto kind = (how & LOCK_UN) != 0   ? file_lock::kind::none
                      : (how & LOCK_EX) != 0 ? file_lock::kind::exclusive
                                             : file_lock::kind::shared;
    of(r).lock_file(r, number, info, {info->lock_owner, true, kind, 0, last_byte}, (how & LOCK_NB) == 0);
  };
  o.unlink = [](fuse_req_t r, fuse_ino_t, const char* name) { of(r).remove_file(r, name); };
  o.opendir = [](fuse_req_t r, fuse_ino_t, fuse_file_info* info) { of(r).open_directory(r, info); };
  o.readdir = [](fuse_req_t r, fuse_ino_t, std::size_t size, off_t at, fuse_file_info* info) {
    of(r).read_directory(r, size, at, info);
  };
  o.releasedir = [](fuse_req_t r, fuse_ino_t, fuse_file_info* info) {
    delete reinterpret_cast<std::vector<named_file>*>(info->fh);
    refuse(r, 0);
  };
  o.statfs = [](fuse_req_t r, fuse_ino_t) { of(r).tell_space(r); };
  // There are files only.
  o.mkdir = [](fuse_req_t r, fuse_ino_t, const char*, mode_t) { refuse(r, EPERM); };
  o.mknod = [](fuse_req_t r, fuse_ino_t, const char*, mode_t, dev_t) { refuse(r, EPERM); };
  o.symlink = [](fuse_req_t r, const char*, fuse_ino_t, const char*) { refuse(r, EPERM); };
  o.link = [](fuse_req_t r, fuse_ino_t, fuse_ino_t, const char*) { refuse(r, EPERM); };
  o.rename = [](fuse_req_t r, fuse_ino_t, const char* from, fuse_ino_t, const char* to, unsigned how) {
    of(r).rename_file(r, from, to, how);
  };
  return o;
}

}  // namespace quire::mount
#endif
