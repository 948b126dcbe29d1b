// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/kept_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "bootstrap/local/frame.hpp"

namespace quire::bootstrap::launcher {
namespace {

constexpr std::string_view of_record = ".record", of_memory = ".memory";

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
}

bool copy(int from, int to, off_t begin, off_t end) {
  std::array<char, 65536> buffer;
  while (begin < end) {
    const auto wanted = static_cast<std::size_t>(std::min<off_t>(end - begin, buffer.size()));
    const ssize_t got = ::pread(from, buffer.data(), wanted, begin);
    if (got <= 0 || ::pwrite(to, buffer.data(), static_cast<std::size_t>(got), begin) != got) return false;
    begin += got;
  }
  return true;
}

/// Only what was used: the rest is a hole there, too.
bool copy_used(int from, int to) {
  const off_t bytes = ::lseek(from, 0, SEEK_END);
  if (bytes < 0 || ::ftruncate(to, bytes) != 0) return false;
  for (off_t at = 0; at < bytes;) {
    const off_t begin = ::lseek(from, at, SEEK_DATA);
    if (begin < 0) return errno == ENXIO;  // nothing more
    const off_t end = ::lseek(from, begin, SEEK_HOLE);
    if (end < 0 || !copy(from, to, begin, end)) return false;
    at = end;
  }
  return true;
}

}  // namespace

void kept_record::take(std::string_view payload) {
  const auto words = local::unpack_strings(payload);
  if (!words || words->size() != 3 || !is_number((*words)[0]) || !is_number((*words)[1]) ||
      !(*words)[2].ends_with(of_record))
    return;
  memory_ = os::descriptor(
      ::open(("/proc/" + (*words)[0] + "/fd/" + (*words)[1]).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  record_ = (*words)[2];
}

bool kept_record::put_down() {
  const os::descriptor memory = std::move(memory_);
  struct stat about {};
  if (!memory.open() || (::stat(record_.c_str(), &about) == 0 && about.st_size != 0)) return true;
  const std::string path = record_.substr(0, record_.size() - of_record.size()) + std::string(of_memory);
  const os::descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.open() && copy_used(memory.number(), file.number())) return true;
  const int error = errno;
  if (file.open()) ::unlink(path.c_str());
  errno = error;
  return false;
}

}  // namespace quire::bootstrap::launcher
