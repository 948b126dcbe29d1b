// SPDX-License-Identifier: BSD-3-Clause
#include "os/limits.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/log.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "os/raw_call.hpp"

namespace quire::os {
namespace {

constexpr std::uint64_t KiB = 1024, MiB = KiB * KiB;

/// A limit of getrlimit(2), and the least with which libraries of a node can be loaded.
struct row {
  int resource;
  const char* what;    ///< "the data of a process"
  const char* option;  ///< of the shell's ulimit
  const char* name;
  std::uint64_t least;
  bool in_bytes;
};
constexpr row addresses{RLIMIT_AS, "the address space of a process", "-v", "RLIMIT_AS", 64 * MiB, true},
    data{RLIMIT_DATA, "the data of a process", "-d", "RLIMIT_DATA", 32 * MiB, true},
    stack{RLIMIT_STACK, "the stack of a thread", "-s", "RLIMIT_STACK", 64 * KiB, true},
    files{RLIMIT_FSIZE, "the size of a file, and of memory without a name,", "-f", "RLIMIT_FSIZE", 0, true},
    descriptors{RLIMIT_NOFILE, "the number of open files of a process", "-n", "RLIMIT_NOFILE", 32, false},
    processes{RLIMIT_NPROC, "the number of processes and threads of a user", "-u", "RLIMIT_NPROC", 0, false};

/// RLIM_INFINITY where there is none.
rlim_t soft(const row& r) noexcept {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource_t>(r.resource), &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}
rlim_t hard(const row& r) noexcept {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource_t>(r.resource), &limit) == 0 ? limit.rlim_max : RLIM_INFINITY;
}
bool is_limited(const row& r) noexcept { return soft(r) != RLIM_INFINITY; }

/// "16 MiB", "100 bytes", "20".
void put_amount(char (&to)[32], std::uint64_t amount, bool in_bytes) noexcept {
  const char* unit = in_bytes ? " bytes" : "";
  if (in_bytes && amount >= MiB) {
    amount /= MiB;
    unit = " MiB";
  } else if (in_bytes && amount >= KiB) {
    amount /= KiB;
    unit = " KiB";
  }
  std::snprintf(to, sizeof to, "%lu%s", static_cast<unsigned long>(amount), unit);
}

void add(limit_text& to, const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
void add(limit_text& to, const char* format, ...) noexcept {
  const std::size_t length = std::strlen(to.text);
  std::va_list arguments;
  va_start(arguments, format);
  (void)base::format_to(to.text + length, static_cast<int>(sizeof to.text - length), format, arguments);
  va_end(arguments);
}

/// "; the stack of a thread is limited to 64 KiB (ulimit -s, RLIMIT_STACK)"
void add_limit(limit_text& to, const row& r, rlim_t value) noexcept {
  char amount[32];
  put_amount(amount, value, r.in_bytes);
  add(to, "; %s is limited to %s (ulimit %s, %s)", r.what, amount, r.option, r.name);
}

/// The content of a small file, ended by 0; empty if it cannot be read. Without heap.
template <std::size_t Size>
std::string_view read_small(const char* path, char (&into)[Size]) noexcept {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd >= 0 ? ::read(fd, into, Size - 1) : 0;
  close_descriptor(fd);
  const auto length = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  into[length] = 0;
  return {into, length};
}

/// 0 for "max" and for what cannot be read.
std::uint64_t read_number(const char* path) noexcept {
  char text[64];
  return read_small(path, text).empty() ? 0 : std::strtoull(text, nullptr, 10);
}

/// Where one version of control groups has a limit. `mark`: of the group's line in /proc/self/cgroup.
struct group_files {
  const char *mark, *root, *most, *used;
};

bool is_tighter(const group_limit& one, const group_limit& than) noexcept {
  const auto left = [](const group_limit& g) noexcept { return g.most - std::min(g.most, g.used); };
  return one.most != 0 && (than.most == 0 || left(one) < left(than));
}

/// The tightest of the group and of those around it. In a container the path may be that of the host, which is not
/// there: then what is at the root counts.
group_limit tightest(const group_files& f, std::string_view path) noexcept {
  group_limit found;
  for (;;) {
    char name[1024];
    const auto read = [&](const char* file) noexcept {
      std::snprintf(name, sizeof name, "%s%.*s/%s", f.root, static_cast<int>(path.size()), path.data(), file);
      return read_number(name);
    };
    const group_limit here{read(f.most), read(f.used), f.most};
    // What has no limit says "max", or a number beyond all memory.
    if (here.most != 0 && here.most < std::uint64_t{1} << 60 && is_tighter(here, found)) found = here;
    if (path.empty()) return found;
    path = path.substr(0, path.rfind('/'));
  }
}

template <std::size_t Count>
group_limit group_limit_of(const group_files (&ways)[Count]) noexcept {
  char text[4096];
  std::string_view rest = read_small("/proc/self/cgroup", text);
  group_limit found;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    for (const group_files& f : ways) {
      const std::size_t at = line.find(f.mark);
      if (at == line.npos) continue;
      const std::string_view path = line.substr(at + std::strlen(f.mark));
      if (const group_limit here = tightest(f, path == "/" ? "" : path); is_tighter(here, found)) found = here;
    }
  }
  return found;
}

/// Whether a private mapping of so much, as for a thread's stack, would be refused now.
bool is_refused(std::uint64_t bytes) noexcept {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return true;
  ::munmap(at, bytes);
  return false;
}

void explain_addresses(limit_text& to) noexcept {
  if (is_limited(addresses)) add_limit(to, addresses, soft(addresses));
  if (is_limited(data)) add_limit(to, data, soft(data));
  if (commits_what_is_mapped())
    add(to,
        "; the system commits memory when it is mapped, up to CommitLimit of /proc/meminfo (vm.overcommit_memory is "
        "2): "
        "raise vm.overcommit_ratio, or set that to 0");
}

void explain_thread(limit_text& to) noexcept {
  constexpr std::uint64_t usual_stack = 8 * MiB;
  const std::uint64_t of_thread = is_limited(stack) ? soft(stack) : usual_stack;
  if (is_refused(of_thread)) return explain_addresses(to);
  const group_limit group = processes_of_group();
  constexpr std::uint64_t close = 8;  // others may have ended meanwhile
  if (group.most != 0 && group.used + close >= group.most) {
    add(to, "; the control group (container, batch job) may have %lu processes and threads (pids.max)",
        static_cast<unsigned long>(group.most));
    return;
  }
  if (is_limited(processes) && ::geteuid() != 0) return add_limit(to, processes, soft(processes));
  add(to, "; the system may have %lu threads (kernel.threads-max, kernel.pid_max)",
      static_cast<unsigned long>(read_number("/proc/sys/kernel/threads-max")));
}

void explain_descriptor(limit_text& to) noexcept {
  const int one = static_cast<int>(raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/"), O_PATH | O_CLOEXEC));
  close_descriptor(one);
  if (one == -ENFILE)
    add(to, "; the system has no descriptor left (fs.file-max)");
  else
    add_limit(to, descriptors, soft(descriptors));
}

/// So many descriptors can be opened. 0 or errno.
int try_descriptors(unsigned count) noexcept {
  constexpr unsigned most = 64;
  int made[most], error = 0;
  unsigned done = 0;
  for (; done < std::min(count, most); ++done) {
    made[done] = static_cast<int>(raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/"), O_PATH | O_CLOEXEC));
    if (made[done] < 0) {
      error = -made[done];
      break;
    }
  }
  while (done > 0) (void)raw_call(SYS_close, made[--done], 0, 0);
  return error;
}

}  // namespace

limit_text explain(shortage what) noexcept {
  limit_text found;
  switch (what) {
    case shortage::addresses:
      explain_addresses(found);
      break;
    case shortage::thread:
      explain_thread(found);
      break;
    case shortage::descriptor:
      explain_descriptor(found);
      break;
    case shortage::file_size:
      if (hard(files) != RLIM_INFINITY) add_limit(found, files, hard(files));
      break;
  }
  return found;
}

limit_text explain_error(int error) noexcept {
  if (error == ENOMEM) return explain(shortage::addresses);
  if (error == EAGAIN) return explain(shortage::thread);
  if (error == EMFILE || error == ENFILE) return explain(shortage::descriptor);
  if (error == EFBIG) return explain(shortage::file_size);
  return {};
}

limit_text explain_if_no_descriptor() noexcept {
  return try_descriptors(1) != 0 ? explain(shortage::descriptor) : limit_text{};
}

group_limit processes_of_group() noexcept {
  static constexpr group_files ways[] = {{":pids:", "/sys/fs/cgroup/pids", "pids.max", "pids.current"},
                                         {"0::", "/sys/fs/cgroup", "pids.max", "pids.current"}};
  return group_limit_of(ways);
}

group_limit memory_of_group() noexcept {
  static constexpr group_files ways[] = {
      {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
      {"0::", "/sys/fs/cgroup", "memory.max", "memory.current"},
      {"0::", "/sys/fs/cgroup", "memory.high", "memory.current"}};
  return group_limit_of(ways);
}

bool file_may_have(std::uint64_t bytes) noexcept {
  const rlim_t most = hard(files);
  return most == RLIM_INFINITY || most >= bytes;
}

bool commits_what_is_mapped() noexcept {
  static const bool strict = read_number("/proc/sys/vm/overcommit_memory") == 2;
  return strict;
}

bool has_room(std::uint64_t first, std::uint64_t range, int& error) noexcept {
  void* const shared = first != 0 ? reserve(range, reinterpret_cast<void*>(first), error) : nullptr;
  if (first != 0 && shared == nullptr) return false;
  const std::uint64_t more = range / 2 + range / 64 / page_bytes * page_bytes + 32 * MiB;
  void* const rest = reserve(more, nullptr, error);
  if (shared != nullptr) unmap(shared, range);
  unmap(rest, more);
  return rest != nullptr;
}

std::string why_no_room(std::uint64_t first, std::uint64_t range) {
  int error = 0;
  if (has_room(first, range, error)) return "";
  std::string why = error == EEXIST ? "something else is there" : error_text(error);
  char amount[32];
  put_amount(amount, soft(addresses), true);
  if (is_limited(addresses) && error != EEXIST)
    why += std::string(" (the address space of a process is limited to ") + amount + ": ulimit -v, RLIMIT_AS)";
  constexpr std::uint64_t least = 64u << 20;
  std::uint64_t fits = std::bit_floor(range);
  while (fits >= least && !has_room(first, fits, error)) fits /= 2;
  return why + (fits >= least           ? "; QUIRE_RANGE=" + std::to_string(fits / MiB) + "M has room"
                : is_limited(addresses) ? "; no QUIRE_RANGE has room"
                                        : "; set QUIRE_BASE to another address");
}

std::string too_small_for_nodes() {
  for (const row& r : {addresses, data, stack, descriptors}) {
    const rlim_t value = r.resource == RLIMIT_NOFILE ? hard(r) : soft(r);
    if (value >= r.least) continue;
    char amount[32];
    put_amount(amount, r.least, r.in_bytes);
    limit_text text;
    add_limit(text, r, value);
    return std::string(text.text + 2) + ": a node needs at least " + amount;
  }
  return "";
}

base::status check_process(unsigned nodes) noexcept {
  if (::access("/proc/self/fd", F_OK) != 0) {
    base::log(base::log_level::error,
              "/proc is not there (%s), which Quire and UCX read: mount it (mount -t proc proc /proc)",
              std::strerror(errno));
    return QUIRE_UNSUPPORTED;
  }
  constexpr unsigned of_node = 24;
  if (try_descriptors(of_node) == 0) return {};
  // Peers by TCP have some each.
  rlimit limit{};
  (void)::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, limit.rlim_cur + of_node + 2 * rlim_t{nodes});
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  const int error = try_descriptors(of_node);
  if (error == 0) return {};
  base::log(base::log_level::error, "a node needs %u more descriptors: %s%s", of_node, std::strerror(error),
            explain_error(error).text);
  return QUIRE_SYSTEM;
}

bool others_may_look() noexcept { return ::prctl(PR_GET_DUMPABLE) == 1 || ::geteuid() == 0; }

}  // namespace quire::os
