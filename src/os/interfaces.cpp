// SPDX-License-Identifier: BSD-3-Clause
#include "os/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

namespace quire::os {

std::vector<network_interface> network_interfaces() {
  std::vector<network_interface> found;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return found;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET || (at->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN] = "";
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr, text, sizeof text);
    const std::string label = at->ifa_name;  // of an alias: eth0:1
    found.push_back({label.substr(0, label.find(':')), text, (at->ifa_flags & IFF_LOOPBACK) != 0});
  }
  ::freeifaddrs(first);
  return found;
}

}  // namespace quire::os
