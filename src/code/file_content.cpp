// SPDX-License-Identifier: BSD-3-Clause
#include "code/file_content.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace quire::code {
namespace {

refusal failed(const char* what, int error) {
  const auto why = error == ENOENT || error == ENOTDIR ? QUIRE_NOT_FOUND : QUIRE_SYSTEM;
  return refuse(why, std::string("it cannot be ") + what + ": " + std::strerror(error));
}

refusal read_all(int fd, std::size_t most_bytes, std::vector<std::byte>& into) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return failed("looked at", errno);
  if (!S_ISREG(about.st_mode)) return invalid("it is no regular file");
  if (static_cast<std::uint64_t>(about.st_size) > most_bytes) {
    return refuse(QUIRE_LIMIT,
                  "it has more than " + std::to_string(most_bytes >> 20) + " MiB, the most that is loaded");
  }
  into.resize(static_cast<std::size_t>(about.st_size));
  for (std::size_t done = 0; done < into.size();) {
    const ssize_t some = ::read(fd, into.data() + done, into.size() - done);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return failed("read", errno);
    if (some == 0) into.resize(done);  // somebody has made it shorter
    done += static_cast<std::size_t>(some);
  }
  return {};
}

}  // namespace

refusal read_file(const char* path, std::size_t most_bytes, std::vector<std::byte>& into) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // of a pipe nobody writes to, open() would wait
  if (fd < 0) return failed("opened", errno);
  auto why = read_all(fd, most_bytes, into);
  ::close(fd);
  return why;
}

}  // namespace quire::code
