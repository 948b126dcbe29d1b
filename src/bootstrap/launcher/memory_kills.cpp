// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/memory_kills.hpp"

#include <fstream>

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
  return ", probably by the kernel as memory is used up: the system's, or what its control group (container, batch "
         "job) may have; set "
         "QUIRE_MEMORY_LIMIT to less than that for each node";
}

}  // namespace quire::bootstrap::launcher
