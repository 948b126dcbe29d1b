// SPDX-License-Identifier: BSD-3-Clause
// The machine and its limits, for `quire info`.
#include <fmt/core.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "facts.hpp"
#include "os/kernel.hpp"
#include "os/limits.hpp"

namespace quire::tools {
namespace {

using json = nlohmann::ordered_json;

/// The word in brackets of "always [never] force".
std::string chosen_word(const std::string& line) {
  const std::size_t from = line.find('['), to = line.find(']');
  return from == line.npos || to == line.npos ? "unknown" : line.substr(from + 1, to - from - 1);
}

fact limit_fact(const char* name, const char* key, int resource, bool in_bytes) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  const auto text = [&](rlim_t value) {
    return value == RLIM_INFINITY ? "unlimited"
           : in_bytes             ? bytes_text(static_cast<double>(value))
                                  : fmt::format("{}", value);
  };
  const auto value = [](rlim_t v) { return v == RLIM_INFINITY ? json(nullptr) : json(v); };
  const std::string both = limit.rlim_cur == limit.rlim_max
                               ? text(limit.rlim_cur)
                               : fmt::format("{} (may be raised to {})", text(limit.rlim_cur), text(limit.rlim_max));
  return {name, both, key, json{{"soft", value(limit.rlim_cur)}, {"hard", value(limit.rlim_max)}}};
}

fact group_fact(const char* name, const char* key, const os::group_limit& limit, bool in_bytes) {
  const auto text = [&](std::uint64_t value) {
    return in_bytes ? bytes_text(static_cast<double>(value)) : fmt::format("{}", value);
  };
  if (limit.most == 0) return {name, "unlimited", key, json{{"most", nullptr}, {"used", nullptr}}};
  return {name, fmt::format("{}, {} used", text(limit.most), text(limit.used)), key,
          json{{"most", limit.most}, {"used", limit.used}}};
}

fact overcommit_fact() {
  const std::string policy = read_line("/proc/sys/vm/overcommit_memory");
  const char* text = policy == "0"   ? "0 (heuristic: Quire's large reservations are allowed)"
                     : policy == "1" ? "1 (always)"
                     : policy == "2" ? "2 (strict: Quire's tables and pools count when they are touched)"
                                     : "unknown";
  return {"overcommit", text, "overcommit_memory", policy};
}

}  // namespace

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 5; ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

fact_group machine_facts() {
  const std::string old = os::why_old_kernel();
  utsname name{};
  ::uname(&name);
  cpu_set_t set;
  const int usable = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN), page = ::sysconf(_SC_PAGESIZE);
  struct sysinfo memory {};
  ::sysinfo(&memory);
  const auto bytes = [&](unsigned long amount) { return static_cast<std::uint64_t>(amount) * memory.mem_unit; };
  const std::string huge = chosen_word(read_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled"));
  return {
      "Machine",
      "machine",
      {{"kernel", fmt::format("{} {} {}", name.sysname, name.release, name.machine), "kernel", name.release},
       {"5.4 or newer", old.empty() ? "yes" : "no: " + old, "kernel_is_old", !old.empty()},
       {"cores", fmt::format("{} usable of {}", usable, cores), "cores", json{{"usable", usable}, {"online", cores}}},
       {"memory",
        fmt::format("{}, {} free", bytes_text(static_cast<double>(bytes(memory.totalram))),
                    bytes_text(static_cast<double>(bytes(memory.freeram)))),
        "memory_bytes", json{{"total", bytes(memory.totalram)}, {"free", bytes(memory.freeram)}}},
       {"page", fmt::format("{} bytes", page), "page_bytes", page},
       {"huge pages of shared memory", huge, "shmem_huge", huge}}};
}

fact_group limit_facts() {
  const std::string maps = read_line("/proc/sys/vm/max_map_count");
  return {"Limits",
          "limits",
          {{"mappings of a process", maps.empty() ? "unknown" : maps, "max_map_count",
            maps.empty() ? json(nullptr) : json(std::stol(maps))},
           limit_fact("open files", "open_files", RLIMIT_NOFILE, false),
           limit_fact("address space", "address_space_bytes", RLIMIT_AS, true),
           limit_fact("data", "data_bytes", RLIMIT_DATA, true),
           limit_fact("stack", "stack_bytes", RLIMIT_STACK, true),
           limit_fact("size of a file, and of memory without a name", "file_bytes", RLIMIT_FSIZE, true),
           limit_fact("locked memory", "locked_memory_bytes", RLIMIT_MEMLOCK, true),
           limit_fact("processes and threads of the user", "processes", RLIMIT_NPROC, false),
           group_fact("processes and threads of the control group", "group_processes", os::processes_of_group(), false),
           group_fact("memory of the control group", "group_memory_bytes", os::memory_of_group(), true),
           overcommit_fact()}};
}

}  // namespace quire::tools
