// SPDX-License-Identifier: BSD-3-Clause
// A directory of checkpoints. Each is a directory of its own, `gen-00000007`; while it is written it has a name that
// nobody takes for one (`gen-00000007.tmp`), and gets its own when all of it is on the disk. Only then older ones go.
// So whatever dies whenever, what was complete before is there.
//
// One process (node 0) calls all that changes the directory; the others only write their files into it, and read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/manifest.hpp"
#include "checkpoint/node_file.hpp"
#include "checkpoint/outcome.hpp"
#include "os/process.hpp"

namespace quire::checkpoint {

/// Complete ones, newest first. A directory that does not exist has none. Its parent's name is not looked at.
outcome list_generations(const std::string& path, std::vector<std::uint64_t>& numbers);
[[nodiscard]] std::string generation_path(const std::string& path, std::uint64_t number);
[[nodiscard]] std::string unfinished_path(const std::string& path, std::uint64_t number);

/// A checkpoint that is being written. Until commit() has succeeded it goes with this object.
class attempt {
 public:
  attempt() = default;
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;
  ~attempt();
  /// Makes the directory `path` if there is none, removes what a job that died has left half done, and makes the
  /// directory of the next generation. QUIRE_BUSY if another job writes a checkpoint there now.
  outcome begin(const std::string& path);
  [[nodiscard]] const identity& what() const noexcept { return what_; }
  /// All files are in it and on the disk but the manifest: writes that, and makes the checkpoint valid.
  outcome commit(const manifest& m);
  /// After commit(): removes all but the newest `keep`. What cannot be removed stays, and is told.
  outcome prune(unsigned keep);

 private:
  std::string path_;
  identity what_{};
  os::descriptor lock_{};
  bool begun_ = false;
};

/// A complete checkpoint, opened for reading: its manifest and the indices of all its files, which fit each other.
class opened {
 public:
  /// `directory`: generation_path().
  outcome open(const std::string& directory);
  [[nodiscard]] const manifest& about() const noexcept { return about_; }
  [[nodiscard]] const std::vector<node_reader>& files() const noexcept { return files_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

 private:
  outcome check_overlaps() const;
  std::string directory_;
  manifest about_{};
  std::vector<node_reader> files_{};
};

/// Reads all content, and compares it with its checksums. For `quire info --checkpoint`.
outcome verify(const opened& whole);

}  // namespace quire::checkpoint
