// SPDX-License-Identifier: BSD-3-Clause
#include "os/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace quire::os {
namespace {

transfer outcome_of(ssize_t result) noexcept {
  if (result > 0) return {transfer::outcome::moved, static_cast<std::size_t>(result)};
  if (result == 0) return {transfer::outcome::ended, 0};
  if (errno == EAGAIN || errno == EWOULDBLOCK) return {transfer::outcome::would_block, 0};
  const bool gone = errno == EPIPE || errno == ECONNRESET;
  return {gone ? transfer::outcome::ended : transfer::outcome::failed, 0};
}

struct stat_line {
  char state = 0;  ///< 0: it is gone
  pid_t parent = 0;
  unsigned flags = 0;  ///< the kernel's PF_
};

/// Of a process, from /proc/PID/stat.
stat_line stat_of(const char* pid) noexcept {
  char path[32], buffer[512];
  std::snprintf(path, sizeof path, "/proc/%s/stat", pid);
  const descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t length = file.open() ? ::read(file.number(), buffer, sizeof buffer) : 0;
  if (length <= 0) return {};
  // "pid (name) state parent group session terminal its-group flags ...", where the name may hold anything, brackets
  // and spaces included.
  const std::string_view text(buffer, static_cast<std::size_t>(length));
  const std::size_t bracket = text.rfind(')');
  if (bracket == text.npos || bracket + 4 >= text.size()) return {};
  stat_line found;
  found.state = text[bracket + 2];
  std::size_t at = bracket + 4;
  std::from_chars(text.data() + at, text.data() + text.size(), found.parent);
  for (int fields = 0; fields < 5; ++fields) {
    at = text.find(' ', at);
    if (at++ == text.npos) return found;
  }
  std::from_chars(text.data() + at, text.data() + text.size(), found.flags);
  return found;
}

/// Without the end of the line; empty if it cannot be read.
std::string first_line(const std::string& path) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[512];
  const ssize_t length = file.open() ? ::read(file.number(), buffer, sizeof buffer) : 0;
  const std::string_view text(buffer, length > 0 ? static_cast<std::size_t>(length) : 0);
  return std::string(text.substr(0, text.find('\n')));
}

stat_line stat_of(pid_t pid) noexcept {
  char number[16];
  std::snprintf(number, sizeof number, "%d", static_cast<int>(pid));
  return stat_of(number);
}

}  // namespace

void descriptor::reset() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

base::result<descriptor_pair> make_socket_pair() noexcept {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return QUIRE_SYSTEM;
  return descriptor_pair{descriptor(ends[0]), descriptor(ends[1])};
}

base::result<descriptor_pair> make_pipe() noexcept {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return QUIRE_SYSTEM;
  return descriptor_pair{descriptor(ends[0]), descriptor(ends[1])};
}

base::status set_blocking(int number, bool blocking) noexcept {
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0) return QUIRE_SYSTEM;
  return ::fcntl(number, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK) == 0 ? QUIRE_OK : QUIRE_SYSTEM;
}

base::status set_close_on_exec(int number, bool closed) noexcept {
  return ::fcntl(number, F_SETFD, closed ? FD_CLOEXEC : 0) == 0 ? QUIRE_OK : QUIRE_SYSTEM;
}

bool is_socket(int number) noexcept {
  struct stat about;
  return ::fstat(number, &about) == 0 && S_ISSOCK(about.st_mode);
}

transfer read_some(int number, std::span<char> into) noexcept {
  ssize_t result;
  do result = ::read(number, into.data(), into.size());
  while (result < 0 && errno == EINTR);
  return outcome_of(result);
}

transfer write_some(int number, std::span<const char> from) noexcept {
  ssize_t result;
  do {
    result = ::send(number, from.data(), from.size(), MSG_NOSIGNAL);
    if (result < 0 && errno == ENOTSOCK) result = ::write(number, from.data(), from.size());
  } while (result < 0 && errno == EINTR);
  return outcome_of(result);
}

std::size_t unread_bytes(int number) noexcept {
  struct stat about;
  int bytes = 0;
  if (::fstat(number, &about) != 0 || !S_ISFIFO(about.st_mode) || ::ioctl(number, FIONREAD, &bytes) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

int wait_ready(std::span<pollfd> entries, int timeout_ms) noexcept {
  const std::uint64_t deadline = base::now_ns() + static_cast<std::uint64_t>(base::limit_ns(timeout_ms));
  for (;;) {
    const int ready = ::poll(entries.data(), entries.size(), timeout_ms);
    if (ready >= 0 || errno != EINTR) return ready < 0 ? 0 : ready;
    if (timeout_ms > 0) {
      const std::uint64_t now = base::now_ns();
      timeout_ms = now >= deadline ? 0 : static_cast<int>((deadline - now + 999'999) / 1'000'000);
    }
  }
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return found;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc{} && end == name.data() + name.size() && stat_of(entry->d_name).parent == ::getpid())
      found.push_back(pid);
  }
  ::closedir(directory);
  return found;
}

thread_times times_of_thread(pid_t pid, std::string_view name) {
  thread_times found;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  DIR* const directory = ::opendir(folder.c_str());
  if (directory == nullptr) return found;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string thread = folder + "/" + entry->d_name;
    if (entry->d_name[0] == '.' || first_line(thread + "/comm") != name) continue;
    const std::string stat = first_line(thread + "/stat"), times = first_line(thread + "/schedstat");
    const std::size_t bracket = stat.rfind(')');
    found.runnable = bracket != stat.npos && bracket + 2 < stat.size() && stat[bracket + 2] == 'R';
    found.known = std::sscanf(times.c_str(), "%lu %lu", &found.ran_ns, &found.waited_ns) == 2;
    break;
  }
  ::closedir(directory);
  return found;
}

bool lacked_core(const thread_times& before, const thread_times& after, std::uint64_t period_ns) noexcept {
  if (!before.known || !after.known || after.waited_ns < before.waited_ns || after.ran_ns < before.ran_ns) return false;
  return after.waited_ns - before.waited_ns >= period_ns / 2 ||
         (after.runnable && after.ran_ns - before.ran_ns < period_ns / 2);
}

bool is_stopped(pid_t pid) noexcept { return stat_of(pid).state == 'T'; }

bool is_ending(pid_t pid) noexcept {
  constexpr unsigned exiting = 4;  // PF_EXITING
  const stat_line found = stat_of(pid);
  return found.state == 'Z' || found.state == 'X' || (found.flags & exiting) != 0;
}

bool descends_from(pid_t pid, pid_t ancestor) noexcept {
  constexpr int farthest = 64;
  for (int i = 0; i < farthest && pid > 1; ++i) {
    if (pid == ancestor) return true;
    pid = stat_of(pid).parent;
  }
  return false;
}

std::string error_text(int error) {
  const char* text = ::strerrordesc_np(error);
  return text != nullptr ? text : "error " + std::to_string(error);
}

std::string signal_text(int signal) {
  const char* text = ::sigdescr_np(signal);
  return std::to_string(signal) + (text != nullptr ? " (" + std::string(text) + ")" : "");
}

}  // namespace quire::os
