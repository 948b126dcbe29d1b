// SPDX-License-Identifier: BSD-3-Clause
// userfaultfd, for `quire info`: is it there, what can it do, and may it serve faults of the kernel itself.
#include <fmt/core.h>
#include <linux/capability.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "detect/userfault/trial.hpp"
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
};
constexpr feature features[] = {
    {7, "SIGBUS"},    {10, "MINOR_SHMEM"},   {12, "WP_HUGETLBFS_SHMEM"}, {4, "MISSING_HUGETLBFS"}, {5, "MISSING_SHMEM"},
    {8, "THREAD_ID"}, {11, "EXACT_ADDRESS"}, {13, "WP_UNPOPULATED"},     {14, "POISON"},           {15, "WP_ASYNC"},
    {16, "MOVE"}};

bool has_ptrace_capability() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:")) return (std::stoull(line.substr(7), nullptr, 16) >> CAP_SYS_PTRACE & 1) != 0;
  return false;
}

/// What the default detector does, done on one page.
fact sufficient_fact() {
  const auto& able = detect::try_userfault(os::userfault_mode::inline_sigbus);
  const std::string text =
      !able.all()        ? fmt::format("missing: {}: {}", able.step, os::error_text(able.error))
      : able.in_one_step ? "works (tried on a page)"
                         : "works (tried on a page; without UFFDIO_CONTINUE_MODE_WP, which is of Linux 6.4: a page "
                           "that is read first takes three more system calls)";
  return {"what Quire needs", text, "sufficient", able.all()};
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
  std::string text;
  json names = json::array();
  for (const auto& f : features) {
    const bool there = (offered >> f.bit & 1) != 0;
    if (!there) continue;
    text += (text.empty() ? "" : " ") + std::string(f.name);
    names.push_back(f.name);
  }
  group.facts.push_back({"features", text, "features", names});
  group.facts.push_back(sufficient_fact());
  group.facts.push_back(kernel_faults_fact());
  group.facts.push_back(written_pages_fact());
  return group;
}

}  // namespace quire::tools
