// SPDX-License-Identifier: BSD-3-Clause
#include "os/machine.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "os/process.hpp"

namespace quire::os {
namespace {

std::uint64_t namespace_of_process(const char* file) noexcept {
  struct stat about {};
  return ::stat(file, &about) == 0 ? about.st_ino : 0;
}
std::uint64_t ipc_namespace() noexcept { return namespace_of_process("/proc/self/ns/ipc"); }

/// A node opens another one's memory by /proc/PID/fd; UCX compares IPC namespaces.
constexpr struct {
  std::uint64_t machine_place::*of;
  const char *name, *option;
} shared_by_memory[] = {{&machine_place::ipc, "IPC", "--ipc=host"},
                        {&machine_place::pid, "PID", "--pid=host"},
                        {&machine_place::user, "user", "--userns=host"}};

constexpr std::uint64_t hash_begin = 14695981039346656037u;  // FNV-1a
constexpr std::uint64_t hash_of(std::uint64_t before, std::uint64_t value) noexcept {
  for (unsigned i = 0; i < 8; ++i) before = (before ^ (value >> 8 * i & 0xff)) * 1099511628211u;
  return before;
}

/// What it may do and could do.
std::uint64_t capabilities_of_process() noexcept {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &head, sets) != 0) return 0;
  std::uint64_t hash = hash_begin;
  for (const auto& set : sets) hash = hash_of(hash_of(hash, set.effective), set.permitted);
  return hash;
}

bool differs(std::uint64_t a, std::uint64_t b) noexcept { return a != 0 && b != 0 && a != b; }

/// Of each the number of the first that it is together with, or its own.
template <class Together>
std::vector<std::uint16_t> firsts(std::span<const machine_place> places, Together&& are_together) {
  std::vector<std::uint16_t> found;
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::size_t first = 0;
    while (first < i && !are_together(places[first], places[i])) ++first;
    found.push_back(static_cast<std::uint16_t>(first));
  }
  return found;
}

}  // namespace

bool machine_place::is_kept_apart_from(const machine_place& other) const noexcept {
  return is_with(other) && std::any_of(std::begin(shared_by_memory), std::end(shared_by_memory),
                                       [&](const auto& one) { return differs(this->*one.of, other.*one.of); });
}

machine_place::reason machine_place::why_apart_from(const machine_place& other) const {
  reason found;
  for (const auto& one : shared_by_memory) {
    if (!differs(this->*one.of, other.*one.of)) continue;
    found.what += (found.what.empty() ? "" : " and ") + std::string(one.name);
    found.options += (found.options.empty() ? "" : " ") + std::string(one.option);
  }
  found.what += " namespaces";
  return found;
}

std::uint64_t memory_place_of_process() noexcept {
  const machine_place here = machine_of_process();
  std::uint64_t hash = hash_begin;
  for (const std::uint64_t one : {here.machine, here.ipc, here.pid, here.user, here.network}) {
    if (one == 0) return 0;
    hash = hash_of(hash, one);
  }
  uid_t users[3] = {};
  gid_t groups[3] = {};
  if (::getresuid(&users[0], &users[1], &users[2]) != 0 || ::getresgid(&groups[0], &groups[1], &groups[2]) != 0)
    return 0;
  for (const uid_t user : users) hash = hash_of(hash, user);
  for (const gid_t group : groups) hash = hash_of(hash, group);
  char host[64] = {};  // machines that began as copies of one have all else in common
  (void)::gethostname(host, sizeof host - 1);
  for (const char c : host) hash = hash_of(hash, static_cast<unsigned char>(c));
  return hash_of(hash, capabilities_of_process()) | 1;
}

machine_place machine_of_process() noexcept {
  machine_place found;
  char text[64];
  const descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t length = file.open() ? ::read(file.number(), text, sizeof text) : 0;
  if (length > 0) {
    found.machine = hash_begin;
    for (ssize_t i = 0; i < length; ++i)
      found.machine = (found.machine ^ static_cast<unsigned char>(text[i])) * 1099511628211u;
  }
  found.ipc = ipc_namespace();
  found.pid = namespace_of_process("/proc/self/ns/pid");
  found.user = namespace_of_process("/proc/self/ns/user");
  found.network = namespace_of_process("/proc/self/ns/net");
  return found;
}

std::vector<std::uint16_t> hosts_of(std::span<const machine_place> places) {
  const auto is_one = [](const machine_place& a, const machine_place& b) { return a.is_with(b); };
  const auto has_one = [](const machine_place& a, const machine_place& b) { return a.is_on_network_of(b); };
  auto machines = firsts(places, is_one);
  const bool all_on_one = std::ranges::all_of(machines, [](std::uint16_t first) { return first == 0; });
  return all_on_one ? firsts(places, has_one) : machines;
}

bool has_own_ipc_namespace() noexcept {
  constexpr std::uint64_t first = 0xefffffff;  // the kernel's PROC_IPC_INIT_INO
  const std::uint64_t own = ipc_namespace();
  return own != 0 && own != first;
}

}  // namespace quire::os
