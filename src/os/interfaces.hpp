// SPDX-License-Identifier: BSD-3-Clause
// The network interfaces of this host. Called at the start, by src/transport and src/bootstrap; not for fault context.
#pragma once

#include <string>
#include <vector>

namespace quire::os {

struct network_interface {
  std::string name;     ///< "eth0"
  std::string address;  ///< IPv4, "10.0.0.1"
  bool loopback = false;
};

/// Those that are up and have an IPv4 address: one entry for each address.
[[nodiscard]] std::vector<network_interface> network_interfaces();

}  // namespace quire::os
