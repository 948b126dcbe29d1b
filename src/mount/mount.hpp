// SPDX-License-Identifier: BSD-3-Clause
// A directory of this host that shows files (files.hpp) to ordinary programs, by FUSE. libfuse3 is loaded when
// something is mounted, and only then. Opened by quire_start() in the application's thread. Files are served by threads
// of its own, which block the application's signals.
//
// A file is read and written past the kernel's cache (direct I/O), so that programs see what nodes write, and the
// reverse, at once; one that is for reading only is cached, and can be mapped. Locks of fcntl and flock hold for all
// hosts (locks.hpp).
//
// With `caches`, so is each file that a program opens for reading: it sees what others write when it opens the file,
// and a second later otherwise.
//
// When the process ends without close(), the kernel ends the connection, and a shell that waits for just that takes the
// directory away.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "mount/files.hpp"

namespace quire::mount {

class mounted {
 public:
  virtual ~mounted() = default;  ///< as close()
  /// Programs that look there wait until now. `shown` lives until close().
  virtual void serve(files& shown) = 0;
  /// Requests that are being served end; then nothing is mounted any more. Programs that have files open there get
  /// errors.
  virtual void close() noexcept = 0;
};

/// Mounts at `directory`, which has to be an empty one (os::why_no_mount_at). QUIRE_UNSUPPORTED: without libfuse3 on
/// this machine or in this build, or without /dev/fuse; QUIRE_BAD_OPTION: the directory; QUIRE_SYSTEM: the kernel
/// refuses. What is wrong is logged, with what to do.
[[nodiscard]] base::result<std::unique_ptr<mounted>> open(const std::string& directory, bool caches);

}  // namespace quire::mount
