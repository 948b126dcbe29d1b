// SPDX-License-Identifier: BSD-3-Clause
#include "kept_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/process.hpp"

namespace quire::tools {
namespace {

constexpr int soon_ms = 1000;  // a pipe that has said nothing by then is waited for: people should know

/// Copies it to its end. False: it cannot be kept.
bool copy(int to, const std::function<void(const std::string&)>& say) {
  pollfd one{STDIN_FILENO, POLLIN, 0};
  if (::poll(&one, 1, soon_ms) == 0)
    say("waits for the end of standard input, which each run reads from its beginning (< /dev/null: there is none)");
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    for (ssize_t done = 0; done < n;) {
      const ssize_t written = ::write(to, part.data() + done, static_cast<std::size_t>(n - done));
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) done += written;
    }
  }
}

}  // namespace

kept_input::kept_input(bool keeps, const std::function<void(const std::string&)>& say) {
  struct stat about {};
  if (!keeps || ::fstat(STDIN_FILENO, &about) != 0) return;
  if (S_ISREG(about.st_mode)) {
    begin_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    return;
  }
  const bool is_terminal = ::isatty(STDIN_FILENO) != 0;
  if (is_terminal) say("runs of the program find no standard input: it is a terminal; for what they read give < FILE");
  if (!is_terminal && !S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode)) return;
  const os::descriptor file(is_terminal ? ::open("/dev/null", O_RDONLY | O_CLOEXEC)
                                        : ::memfd_create("quire-input", MFD_CLOEXEC));
  if (!file.open()) return;
  if (!is_terminal && !copy(file.number(), say)) say("standard input cannot be read to its end");
  (void)::dup2(file.number(), STDIN_FILENO);
  if (!is_terminal) begin_ = 0;
}

void kept_input::rewind() const {
  if (begin_ >= 0) (void)::lseek(STDIN_FILENO, begin_, SEEK_SET);
}

}  // namespace quire::tools
