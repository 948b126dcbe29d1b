// SPDX-License-Identifier: BSD-3-Clause
// userfaultfd, for `quire info`: is it there, what can it do, and may it serve faults of the kernel itself.
#include <fmt/core.h>
#include <linux/capability.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "facts.hpp"
#include "os/process.hpp"
#include "os/userfault.hpp"

namespace quire::tools {
namespace {

using json = nlohmann::ordered_json;

/// Bits of uffdio_api.features, by number: the headers of the machine that builds may be older than its kernel.
struct feature {
  int bit;
  const char* name;
  bool needed;  ///< by Quire's default detector
};
constexpr feature features[] = {{7, "SIGBUS", true},
                                {10, "MINOR_SHMEM", true},
                                {12, "WP_HUGETLBFS_SHMEM", true},
                                {4, "MISSING_HUGETLBFS", false},
                                {5, "MISSING_SHMEM", false},
                                {8, "THREAD_ID", false},
                                {11, "EXACT_ADDRESS", false},
                                {13, "WP_UNPOPULATED", false},
                                {14, "POISON", false},
                                {15, "WP_ASYNC", false},
                                {16, "MOVE", false}};

bool has_ptrace_capability() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:")) return (std::stoull(line.substr(7), nullptr, 16) >> CAP_SYS_PTRACE & 1) != 0;
  return false;
}

/// Faults taken inside system calls: allowed or not, and why.
fact kernel_faults_fact() {
  const bool allowed = [] {
    const os::descriptor userfault(os::userfault_open(os::userfault_mode::thread));
    return userfault.open();
  }();
  const bool capable = has_ptrace_capability();
  const bool by_sysctl = read_line("/proc/sys/vm/unprivileged_userfaultfd") == "1";
  const bool by_device = ::access("/dev/userfaultfd", R_OK | W_OK) == 0;
  const std::string why =
      capable     ? "CAP_SYS_PTRACE"
      : by_sysctl ? "vm.unprivileged_userfaultfd=1"
      : by_device ? "/dev/userfaultfd may be opened"
      : allowed   ? "the kernel allows it"
                  : "neither CAP_SYS_PTRACE, nor vm.unprivileged_userfaultfd=1, nor access to /dev/userfaultfd";
  const std::string text = !allowed && (capable || by_sysctl || by_device)
                               ? "no (the kernel refuses, although: " + why + ")"
                               : fmt::format("{} ({})", yes_no(allowed), why);
  return {"faults inside system calls", text, "kernel_faults",
          json{{"allowed", allowed}, {"cap_sys_ptrace", capable}, {"sysctl", by_sysctl}, {"device", by_device}}};
}

/// Whether written pages can be found without faults (detect::kind::userfault_scan), which no region can ask for yet.
fact written_pages_fact() {
  const int userfault = os::userfault_open(os::userfault_mode::inline_scan);
  const os::descriptor first(userfault);
  const os::descriptor second(first.open() ? os::pagemap_open() : userfault);
  const std::string why = second.open() ? "" : os::error_text(-second.number());
  return {"finds written pages without faults",
          second.open() ? "yes (WP_ASYNC and PAGEMAP_SCAN)"
                        : "no: " + why + (first.open() ? " (PAGEMAP_SCAN)" : " (WP_ASYNC)"),
          "finds_written_pages", second.open()};
}

}  // namespace

fact_group userfault_facts() {
  std::uint64_t offered = 0;
  bool by_device = false;
  const int error = os::userfault_features(offered, by_device);
  fact_group group{"userfaultfd", "userfaultfd", {}};
  group.facts.push_back({"available",
                         error != 0  ? "no: " + os::error_text(error)
                         : by_device ? "yes (by /dev/userfaultfd alone)"
                                     : "yes",
                         "available", error == 0});
  if (error != 0) return group;
  std::string text, missing;
  json names = json::array();
  for (const auto& f : features) {
    const bool there = (offered >> f.bit & 1) != 0;
    if (there) {
      text += (text.empty() ? "" : " ") + std::string(f.name);
      names.push_back(f.name);
    } else if (f.needed) {
      missing += (missing.empty() ? "" : " ") + std::string(f.name);
    }
  }
  group.facts.push_back({"features", text, "features", names});
  group.facts.push_back(
      {"what Quire needs", missing.empty() ? "is all there" : "missing: " + missing, "sufficient", missing.empty()});
  group.facts.push_back(kernel_faults_fact());
  group.facts.push_back(written_pages_fact());
  return group;
}

}  // namespace quire::tools
