// SPDX-License-Identifier: BSD-3-Clause
#include "os/mounts.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/siphash.hpp"
#include "os/process.hpp"

namespace quire::os {
namespace {

/// As /proc/self/mountinfo writes spaces: \040.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct table_row {
  int number = -1;
  std::string where, type, device, options;  ///< `device`: "0:53"; `options`: those of the file system
};

/// All that is mounted, in the order of the table: what lies uppermost comes last. Touches no file system but /proc: a
/// dead one may not answer.
std::vector<table_row> read_table() {
  std::ifstream table("/proc/self/mountinfo");
  std::vector<table_row> rows;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    table_row row;
    std::string field;
    for (int i = 0; i < 5 && fields >> field; ++i) {
      if (i == 0) row.number = std::atoi(field.c_str());
      if (i == 2) row.device = field;
      row.where = field;  // the fifth
    }
    while (fields >> field && field != "-") continue;
    fields >> row.type >> field >> row.options;
    row.where = unescaped(row.where);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The device of what lies uppermost at `canonical`, if that is a mount of Quire's; else empty.
std::string device_of(const std::string& canonical) {
  std::string found;
  for (const auto& row : read_table())
    if (row.where == canonical) found = row.type == mount_type ? row.device : "";
  return found;
}

/// The number of an option ("user_id=1000"); 0 if it is not there.
unsigned number_in(const std::string& options, const std::string& name) {
  const std::size_t at = (',' + options).find(',' + name + '=');
  return at == options.npos ? 0
                            : static_cast<unsigned>(std::strtoul(options.c_str() + at + name.size() + 1, nullptr, 10));
}

bool is_quires(const std::string& canonical) { return !device_of(canonical).empty(); }

bool is_dead(const std::string& canonical) {
  struct stat facts {};
  return ::stat(canonical.c_str(), &facts) != 0 && (errno == ENOTCONN || errno == ECONNABORTED);
}

void run_fusermount(const std::string& canonical) {
  std::array<std::string, 4> words{"fusermount3", "-u", "-z", canonical};
  std::array<char*, 5> pointers{words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  posix_spawn_file_actions_t silent;
  ::posix_spawn_file_actions_init(&silent);
  ::posix_spawn_file_actions_addopen(&silent, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, words[0].c_str(), &silent, nullptr, pointers.data(), environ) == 0) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  ::posix_spawn_file_actions_destroy(&silent);
}

std::string why_no_device() {
  const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device >= 0) {
    ::close(device);
    return {};
  }
  if (errno == EACCES || errno == EPERM)
    return "/dev/fuse may not be opened: " + error_text(errno) +
           "; its mode should be 0666 (in a container, start that with --device /dev/fuse --cap-add SYS_ADMIN)";
  return "/dev/fuse cannot be opened: " + error_text(errno) +
         "; load the kernel's module (modprobe fuse), or start the container with --device /dev/fuse "
         "--cap-add SYS_ADMIN";
}

}  // namespace

std::string canonical_directory(const std::string& directory) {
  // Of the last part nothing is asked: it may be dead.
  std::string path = directory;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::size_t slash = path.rfind('/');
  const std::string last = slash == path.npos ? path : path.substr(slash + 1);
  struct stat facts {};
  const bool whole =
      last.empty() || last == "." || last == ".." || (::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode));
  const std::string above = whole ? path : slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  std::array<char, PATH_MAX> found{};
  if (::realpath(above.c_str(), found.data()) == nullptr) return {};
  const std::string there = found.data();
  return whole ? there : (there == "/" ? "" : there) + "/" + last;
}

std::string why_no_mount_at(const std::string& directory) {
  const std::string canonical = canonical_directory(directory);
  if (!canonical.empty() && is_quires(canonical)) {
    if (!is_dead(canonical))
      return "another job is mounted at " + directory + "; choose another directory, or wait for its end";
    if (!detach_if_dead(canonical))
      return "a dead job is mounted at " + directory + ", which cannot be taken away; try: umount -l " + directory;
  }
  DIR* const opened = ::opendir(directory.c_str());
  if (opened == nullptr) {
    const std::string text = "the directory " + directory + " cannot be opened: " + error_text(errno);
    return errno == ENOENT ? text + "; make it: mkdir -p " + directory : text;
  }
  bool empty = true;
  while (const dirent* entry = ::readdir(opened)) {
    const std::string name = entry->d_name;
    empty = empty && (name == "." || name == "..");
  }
  ::closedir(opened);
  if (!empty) return "the directory " + directory + " is not empty: what is in it would be hidden; choose another one";
  return why_no_device();
}

bool detach_if_dead(const std::string& canonical) {
  if (canonical.empty() || !is_quires(canonical) || !is_dead(canonical)) return true;
  if (::umount2(canonical.c_str(), MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW) != 0) run_fusermount(canonical);
  return !is_quires(canonical) || !is_dead(canonical);
}

void abort_mount(const std::string& canonical) {
  const std::string device = canonical.empty() ? "" : device_of(canonical);
  const std::size_t colon = device.find(':');
  if (colon == device.npos) return;
  std::ofstream connection("/sys/fs/fuse/connections/" + device.substr(colon + 1) + "/abort");
  if (connection << 1 && connection.flush()) return;
  if (::umount2(canonical.c_str(), MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW) != 0) run_fusermount(canonical);
}

std::vector<mount_point> mounts() {
  std::vector<mount_point> found;
  for (const auto& row : read_table()) {
    std::erase_if(found, [&](const mount_point& below) { return below.where == row.where; });
    if (row.type == mount_type)
      found.push_back({row.where, number_in(row.options, "user_id"), number_in(row.options, "group_id"), row.number});
  }
  return found;
}

bool is_dead(const mount_point& mount) {
  constexpr int step_ms = 5, limit_ms = 1000;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_user = ::geteuid() == mount.user || (::setresgid(mount.group, mount.group, mount.group) == 0 &&
                                                       ::setresuid(mount.user, mount.user, mount.user) == 0);
    ::_exit(is_user && is_dead(mount.where) ? 1 : 0);
  }
  int status = 0;
  pid_t ended = 0;
  for (int waited_ms = 0; child > 0 && (ended = ::waitpid(child, &status, WNOHANG)) == 0 && waited_ms < limit_ms;
       waited_ms += step_ms)
    ::poll(nullptr, 0, step_ms);
  if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 1;
  if (child > 0 && ended == 0) {
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  return false;
}

// By a descriptor: a user could have put something else at the path meanwhile, or above it, that is not theirs.
std::string detach(const mount_point& mount) {
  const descriptor there(::open(mount.where.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const std::string number = std::to_string(there.number());
  std::ifstream facts("/proc/self/fdinfo/" + number);
  int found = -1;
  for (std::string word; facts >> word;)
    if (word == "mnt_id:") facts >> found;
  if (!there.open() || found != mount.number) return "something else is there now";
  if (::umount2(("/proc/self/fd/" + number).c_str(), MNT_DETACH) == 0) return {};
  const int error = errno;
  run_fusermount(mount.where);
  const auto left = mounts();
  const bool stays =
      std::any_of(left.begin(), left.end(), [&](const mount_point& one) { return one.number == mount.number; });
  return stays ? error_text(error) : std::string();
}

std::uint64_t place_of(const std::string& directory) {
  std::string words;
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::getline(boot, words);
  struct stat facts {};
  if (::stat("/proc/self/ns/mnt", &facts) == 0) words += ' ' + std::to_string(facts.st_ino);
  words += ' ' + canonical_directory(directory);
  const std::uint64_t number = base::siphash({0x7175697265, 0x6d6f756e74}, std::as_bytes(std::span(words)));
  return number == 0 ? 1 : number;
}

}  // namespace quire::os
