// SPDX-License-Identifier: BSD-3-Clause
#include "record_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <vector>

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

bool remove_records(const std::string& folder, std::error_code& error) {
  std::vector<fs::path> records;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (const auto kind = entry.path().extension(); kind == ".record" || kind == ".memory" || kind == ".intervals")
      records.push_back(entry.path());
  for (const auto& path : records) fs::remove(path, error);
  return !error;
}

/// Whether that is still the folder of this name: the job that had it removes it.
bool is_still(const std::string& path, int folder) {
  struct stat named {
  }, open{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(folder, &open) == 0 && named.st_ino == open.st_ino &&
         named.st_dev == open.st_dev;
}

}  // namespace

std::optional<record_folder> record_folder::take(const std::string& file, std::string& why) {
  const std::string path = fs::absolute(file + ".records").lexically_normal();
  std::error_code error;
  for (int tries = 0; tries < 100; ++tries) {
    fs::create_directory(path, error);
    if (error) break;
    os::descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.open()) {
      if (errno == ENOENT) continue;
      error.assign(errno, std::generic_category());
      break;
    }
    if (::flock(folder.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {  // else the file system has none
      why = fmt::format("{}: another job that runs now writes it: give this one a file of its own", file);
      return std::nullopt;
    }
    if (!is_still(path, folder.number())) continue;
    if (!remove_records(path, error)) break;
    return record_folder(path, std::move(folder));
  }
  why = fmt::format("{}: cannot make {}: {}", file, path, error ? error.message() : "others remove it again and again");
  return std::nullopt;
}

bool record_folder::clear() const {
  std::error_code error;
  return remove_records(path_, error);
}

void record_folder::drop() const {
  std::error_code error;
  if (clear()) fs::remove(path_, error);
}

}  // namespace quire::tools
