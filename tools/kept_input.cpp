// SPDX-License-Identifier: BSD-3-Clause
#include "kept_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/clock.hpp"
#include "os/process.hpp"

namespace quire::tools {
namespace {

constexpr int soon_ms = 1000;  // a pipe that has said nothing by then is waited for: people should know
constexpr std::uint64_t most_input_bytes = 1u << 30;

using tell_function = std::function<void(const std::string&)>;

/// Why a run would not read all of it, and what helps.
std::string why_refused(const std::string& why) {
  return fmt::format(
      "standard input {}: each run reads it from its beginning, so it is kept first. Give < FILE, or < /dev/null "
      "if the program reads none",
      why);
}

/// Waits until there is something to read, or the end. False: not before that time.
bool wait_for_input(std::uint64_t until_ns, const tell_function& say, bool& told) {
  for (;;) {
    const std::uint64_t now = base::now_ns();
    if (now >= until_ns) return false;
    const int left_ms = static_cast<int>(std::min<std::uint64_t>((until_ns - now) / 1'000'000 + 1, soon_ms));
    pollfd one{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&one, 1, left_ms);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // read() says what is wrong
    if (ready == 0 && !std::exchange(told, true))
      say("waits for the end of standard input, which each run reads from its beginning (< /dev/null: there is none)");
  }
}

std::string keep_bytes(int to, const char* bytes, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const ssize_t written = ::write(to, bytes + done, count - done);
    if (written < 0 && errno != EINTR) return why_refused(fmt::format("cannot be kept: {}", os::error_text(errno)));
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return {};
}

/// Copies it to its end. What is wrong; empty: nothing.
std::string copy(int to, double seconds, const tell_function& say) {
  const std::uint64_t until_ns = base::now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  std::array<char, 65536> part{};
  bool told = false;
  for (std::uint64_t all = 0;;) {
    if (!wait_for_input(until_ns, say, told)) return why_refused(fmt::format("has not ended after {:g} s", seconds));
    const ssize_t n = ::read(STDIN_FILENO, part.data(), part.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return why_refused(fmt::format("cannot be read to its end: {}", os::error_text(errno)));
    if (n == 0) return {};
    all += static_cast<std::uint64_t>(n);
    if (all > most_input_bytes) return why_refused("has more than 1 GiB");
    if (auto why = keep_bytes(to, part.data(), static_cast<std::size_t>(n)); !why.empty()) return why;
  }
}

}  // namespace

kept_input::kept_input(bool keeps, double seconds, const std::function<void(const std::string&)>& say) {
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
  if (!file.open()) why_not_ = why_refused(fmt::format("cannot be kept: {}", os::error_text(errno)));
  if (why_not_.empty() && !is_terminal) why_not_ = copy(file.number(), seconds, say);
  if (!why_not_.empty()) return;
  (void)::dup2(file.number(), STDIN_FILENO);
  if (!is_terminal) begin_ = 0;
}

void kept_input::rewind() const {
  if (begin_ >= 0) (void)::lseek(STDIN_FILENO, begin_, SEEK_SET);
}

}  // namespace quire::tools
