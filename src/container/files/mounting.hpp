// SPDX-License-Identifier: BSD-3-Clause
// Containers as files in a directory of the host (QUIRE_MOUNT): one mount for each directory that nodes see, by the
// first of these nodes, from quire_start() to quire_end(). Called by runtime.cpp in the application's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "mount/files.hpp"
#include "mount/mount.hpp"

namespace quire::api {

class mounting {
 public:
  /// `places`: of each node what os::place_of() gave for its directory; 0 for one that mounts nothing. Mounts, if this
  /// node is the first of its place. Errors as of mount::open().
  [[nodiscard]] base::status open(const std::string& directory, bool caches, const std::vector<std::uint64_t>& places,
                                  unsigned self);
  /// Whether any node of the job mounts: then all of them wait for all at the end, before files go.
  [[nodiscard]] bool anywhere() const noexcept { return anywhere_; }
  /// When calls of the API work. `range_bytes`: of shared addresses.
  void serve(std::uint64_t range_bytes);
  /// Nothing is mounted any more, and what was written to files has been synced.
  void close() noexcept;

 private:
  bool anywhere_ = false;
  std::unique_ptr<mount::files> shown_{};
  std::unique_ptr<mount::mounted> mounted_{};
};

}  // namespace quire::api
