// SPDX-License-Identifier: BSD-3-Clause
#include "left_over.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <set>

#include "os/file_content.hpp"
#include "os/process.hpp"
#include "os/process_environment.hpp"
#include "os/process_mark.hpp"
#include "top/view.hpp"

namespace quire::tools {
namespace {

constexpr std::size_t command_columns = 60;

bool of_all_users() { return ::geteuid() == 0; }

/// Names in a folder of /proc that are numbers; processes may come and go meanwhile.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t number = 0;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong == std::errc{} && rest == name.data() + name.size()) found.push_back(number);
  }
  return found;
}

std::string value_in(const std::string& environment, const char* name) {
  const std::string begin = std::string(1, '\0') + name + "=";
  const std::size_t at = (std::string(1, '\0') + environment).find(begin);
  return at == std::string::npos ? std::string() : std::string(environment.c_str() + at + begin.size() - 1);
}

struct job_process {
  left_process about;
  bool launcher_lives = false;
};

std::optional<job_process> look_at(pid_t pid) {
  const std::string environment = os::environment_of(pid);
  const std::string mark = value_in(environment, base::launcher_variable);
  if (mark.empty()) return std::nullopt;
  const auto launcher = os::find_marked(mark);
  if (launcher.is == os::marked_process::state::elsewhere) return std::nullopt;
  std::string command = os::content_of(fmt::format("/proc/{}/cmdline", pid)).text;
  while (command.ends_with('\0')) command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return job_process{{pid, launcher.pid, mark, top::for_terminal(command, command_columns),
                      value_in(environment, base::row_of(base::option::mount).variable)},
                     launcher.is == os::marked_process::state::alive};
}

/// All that jobs of `quire run` have started here, of jobs that run and of others.
std::vector<job_process> all_processes() {
  std::vector<job_process> all;
  for (const pid_t pid : numbers_in("/proc"))
    if (auto one = look_at(pid)) all.push_back(std::move(*one));
  return all;
}

/// Of dead jobs. Not a `quire run` that a dead job has started, and whose own job goes on; nor who runs this command.
std::vector<left_process> left_in(const std::vector<job_process>& all) {
  std::set<pid_t> launchers;
  for (const auto& one : all)
    if (one.launcher_lives) launchers.insert(one.about.launcher);
  std::vector<left_process> left;
  for (const auto& one : all)
    if (!one.launcher_lives && !launchers.contains(one.about.pid) && !os::descends_from(::getpid(), one.about.pid))
      left.push_back(one.about);
  return left;
}

/// Its pid may be another process's by now: asked again when it cannot change any more.
void send(const left_process& to, int signal) {
  const os::descriptor held(static_cast<int>(::syscall(SYS_pidfd_open, to.pid, 0)));
  if (!held.open() && errno != ENOSYS) return;
  const auto now = look_at(to.pid);
  if (!now || now->about.mark != to.mark || now->launcher_lives) return;
  if (held.open())
    ::syscall(SYS_pidfd_send_signal, held.number(), signal, nullptr, 0);
  else
    ::kill(to.pid, signal);
}

/// The canonical path, without a question to what is mounted there: it may never answer.
std::string place_of(const std::string& path) {
  const os::descriptor there(::open(path.c_str(), O_PATH | O_CLOEXEC));
  std::error_code error;
  const auto found = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", there.number()), error);
  return path.empty() || !there.open() || error ? std::string() : found.string();
}

/// A process that was killed while it waits for a file of its own mount ends when that is ended.
void abort_mounts(const std::vector<left_process>& stuck) {
  std::set<std::string> used;
  for (const auto& one : all_processes())
    if (one.launcher_lives) used.insert(place_of(one.about.mount));
  for (const auto& one : stuck)
    if (const std::string where = place_of(one.mount); !where.empty() && !used.contains(where)) os::abort_mount(where);
}

std::vector<std::string> end_processes(std::vector<left_process> left) {
  constexpr int step_ms = 20, patience_ms = 1000, limit_ms = 15000;  // where processors are busy, that long
  const std::set<std::string> marks = [&] {
    std::set<std::string> all;
    for (const auto& one : left) all.insert(one.mark);
    return all;
  }();
  for (int waited_ms = 0; !left.empty() && waited_ms < limit_ms; waited_ms += step_ms) {
    if (waited_ms % patience_ms == 0)
      for (const auto& one : left) send(one, waited_ms == 0 ? SIGTERM : SIGKILL);
    if (waited_ms == 2 * patience_ms) abort_mounts(left);
    ::poll(nullptr, 0, step_ms);
    left = left_in(all_processes());
    std::erase_if(left, [&](const left_process& one) { return !marks.contains(one.mark); });
  }
  std::vector<std::string> wrong;
  for (const auto& one : left) wrong.push_back(fmt::format("process {} was killed, and does not end", one.pid));
  return wrong;
}

std::vector<std::string> directories(const base::option_values& options) {
  std::vector<std::string> found{os::posix_objects, os::temporary_directory(""),
                                 os::temporary_directory(options.text(base::option::pool_dir)),
                                 os::temporary_directory(options.text(base::option::page_out_dir))};
  for (auto& one : found) {
    std::error_code error;
    if (auto real = std::filesystem::canonical(one, error); !error) one = real;
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

left_over find_left_over(const base::option_values& options) {
  left_over found;
  found.processes = left_in(all_processes());
  for (auto& mount : os::mounts())
    if ((of_all_users() || mount.user == ::geteuid()) && os::is_dead(mount)) found.mounts.push_back(std::move(mount));
  found.segments = os::dead_segments(of_all_users());
  for (const auto& directory : directories(options))
    std::ranges::move(os::left_names(directory, of_all_users()), std::back_inserter(found.files));
  return found;
}

// Processes first: then nobody uses the rest any more, and what they held is found dead.
std::vector<std::string> end_left_over(const left_over& found) {
  auto wrong = end_processes(found.processes);
  for (const auto& mount : found.mounts)
    if (const auto why = os::detach(mount); !why.empty())
      wrong.push_back(fmt::format("cannot unmount {}: {}; try: umount -l {}", mount.where, why, mount.where));
  for (const auto& segment : found.segments) os::remove_segment(segment.id);
  for (const auto& file : found.files)
    if (::unlink(file.c_str()) != 0 && errno != ENOENT)
      wrong.push_back(fmt::format("cannot remove {}: {}", file, os::error_text(errno)));
  return wrong;
}

std::string text_of(const left_process& one) {
  return fmt::format("{} ({}): `quire run`, process {}, is gone", one.pid, one.command, one.launcher);
}
std::string text_of(const os::mount_point& one) { return top::for_terminal(one.where, one.where.size()); }
std::string text_of(const os::left_segment& one) {
  return fmt::format("{} ({} bytes): process {}, which made it, is gone", one.id, one.bytes, one.maker);
}

}  // namespace quire::tools
