// SPDX-License-Identifier: BSD-3-Clause
// The folder in which the nodes of a job leave their records for --report and --auto: beside the file that is made of
// them, on a file system that the hosts have in common as the user sees to. One job at a time has it.
#pragma once

#include <optional>
#include <string>
#include <system_error>

#include "os/process.hpp"

namespace quire::tools {

class record_folder {
 public:
  /// Makes it, and removes records of a job whose page could not be made. Nothing, and a sentence in `why`.
  [[nodiscard]] static std::optional<record_folder> take(const std::string& file, std::string& why);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Removes what the nodes have left there, and nothing else. False: it cannot be looked into.
  bool clear() const;
  /// With the folder, unless something else is there.
  void drop() const;

 private:
  record_folder(std::string path, os::descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  os::descriptor lock_;  ///< the folder itself, with flock(2)
};

}  // namespace quire::tools
