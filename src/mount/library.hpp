// SPDX-License-Identifier: BSD-3-Clause
// libfuse3 as a library that is loaded when something is mounted, and only then: Quire runs where it is not installed.
// Used by session.hpp only.
#pragma once

#define FUSE_USE_VERSION 34
#include <fuse_lowlevel.h>

#include <string>

namespace quire::mount {

/// One entry for each function of libfuse that Quire calls. X(name) stands for fuse_name.
// clang-format off
#define QUIRE_FUSE_FUNCTIONS(X) \
  X(session_new) X(session_mount) X(session_unmount) X(session_destroy) X(session_fd) X(session_receive_buf) \
  X(session_process_buf) X(session_exited) X(opt_add_arg) X(opt_free_args) X(set_log_func) X(req_userdata) X(req_ctx) \
  X(reply_err) X(reply_none) X(reply_entry) X(reply_create) X(reply_attr) X(reply_open) X(reply_write) X(reply_buf) \
  X(reply_statfs) X(add_direntry) X(reply_lock) X(req_interrupt_func) X(lowlevel_notify_inval_inode)
// clang-format on

struct library {
#define QUIRE_FUSE_MEMBER(name) decltype(&::fuse_##name) name = nullptr;
  QUIRE_FUSE_FUNCTIONS(QUIRE_FUSE_MEMBER)
#undef QUIRE_FUSE_MEMBER
};

/// Loads it at the first call; it stays loaded. Null, with the reason in `why`, if it is not there or lacks something.
[[nodiscard]] const library* load(std::string& why);

}  // namespace quire::mount
