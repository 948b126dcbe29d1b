// SPDX-License-Identifier: BSD-3-Clause
// Files that become longer than RLIMIT_FSIZE allows: the thread would get SIGXFSZ, which ends the process. The limit is
// one of memory without a name, too. Any thread, async-signal-safe.
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace quire::os {

/// While it lives, a call that makes a file too long gives EFBIG and nothing else. Asked to raise it, it has the soft
/// limit as high as the hard one: for memory, which no user means by that limit. That is so of all threads meanwhile.
class file_size_scope {
 public:
  enum class limit : bool { as_it_is, raised };
  explicit file_size_scope(limit how = limit::as_it_is) noexcept;
  ~file_size_scope();
  file_size_scope(const file_size_scope&) = delete;
  file_size_scope& operator=(const file_size_scope&) = delete;

 private:
  sigset_t before_;
  rlimit limit_{RLIM_INFINITY, RLIM_INFINITY};
  bool limited_ = false, raised_ = false, was_pending_ = false;
};

}  // namespace quire::os
