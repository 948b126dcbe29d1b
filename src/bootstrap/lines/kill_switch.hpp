// SPDX-License-Identifier: BSD-3-Clause
// How nodes on other hosts end this process when it does not answer, where no launcher does it: a datagram with a word
// of 128 bits that only the job knows. A filter in the kernel drops all other datagrams; for one that it lets through
// the kernel sends SIGKILL to the owner of the socket, which may be stopped, or hang (fcntl(2), F_SETSIG).
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "base/siphash.hpp"
#include "os/process.hpp"

namespace quire::bootstrap {

class kill_switch {
 public:
  /// From now on `word` ends this process. False where the system does not let it.
  [[nodiscard]] bool open(const base::secret& word) noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }  ///< 0: it is not open
  void close_in_child() noexcept;

  /// Sends it: datagrams may be lost.
  static void send(const sockaddr_in& host, std::uint16_t port, const base::secret& word) noexcept;

 private:
  os::descriptor socket_;
  std::uint16_t port_ = 0;
};

}  // namespace quire::bootstrap
