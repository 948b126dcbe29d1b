// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/memory_kills.hpp"

#include <fstream>

#include "os/limits.hpp"

namespace quire::bootstrap::launcher {

std::uint64_t memory_kills::count() noexcept {
  std::ifstream events("/proc/vmstat");  // kills by the limit of a control group are counted, too
  std::string name;
  for (std::uint64_t number = 0; events >> name >> number;)
    if (name == "oom_kill") return number;
  return 0;
}

std::string memory_kills::explain() const {
  if (count() == before_) return {};
  const std::string likely = ", probably by the kernel as memory is used up: ";
  const os::group_limit group = os::memory_of_group();
  if (group.most == 0)
    return likely +
           "the system's, or what its control group (container, batch job) may have; set QUIRE_MEMORY_LIMIT "
           "to less than that for each node";
  constexpr std::uint64_t KiB = 1024;
  return likely + "the control group (container, batch job) may have " + std::to_string(group.most / KiB) + " KiB (" +
         group.name +
         "), and a node needs some 6144 KiB beside what the program uses; set QUIRE_MEMORY_LIMIT to less "
         "than that for each node";
}

}  // namespace quire::bootstrap::launcher
