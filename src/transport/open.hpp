// SPDX-License-Identifier: BSD-3-Clause
// The factory of transports: from the option QUIRE_TRANSPORT to a body. Called by src/core (and tests, benchmarks)
// once at the start, in the application's thread. The in-process body for tests has its own factory, in
// loopback/loopback.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/siphash.hpp"
#include "base/status.hpp"
#include "transport/delayed/delayed.hpp"
#include "transport/transport.hpp"

namespace quire::transport {

struct wanted {
  std::string_view kind{};  ///< a name, see open()
  unsigned nodes = 0;       ///< of the job
  bool all_local = false;   ///< all of them run on this host
  std::string_view devices = "auto";
  base::secret job{};           ///< what its nodes know and strangers do not
  bool outlives_peers = false;  ///< it goes on when nodes die
  bool system_ucx = false;
  bool encrypts = false;
  std::optional<delayed::link> delay{};  ///< as if there were one between hosts that messages have to pass
  std::uint64_t host = 0;  ///< nodes with the same number can open each other's memory; 0: no other node can
};

/// Opens the transport of that name.
///   "auto"  shared memory if all_local; else TCP between hosts, and shared memory on each (hosts/hosts.hpp)
///   "shm"   shared memory (rings/rings.hpp), or what UCX_TLS names, if the user has set that; QUIRE_UNSUPPORTED unless
///           all_local
///   "tcp"   TCP alone, also on one host
/// `devices`: the network interfaces to use, as UCX names them, separated by commas. "auto": loopback alone if
/// all_local, so that no other host can connect; else all that are up and not loopback. UCX_NET_DEVICES wins. Who does
/// not know the job's secret is neither connected nor heard. `outlives_peers`: abandon() tells which node is dead; then
/// UCX_TLS does not choose for shared memory, and large payloads are slower. `system_ucx`: the system's UCX, even if
/// libquire came with one (QUIRE_UCX). `encrypts`: TCP carries sealed messages (sealed/sealed.hpp). Any other name:
/// QUIRE_BAD_OPTION. QUIRE_UNSUPPORTED when UCX is wanted and not installed, QUIRE_SYSTEM when it or the system
/// refuses. What went wrong is logged. All nodes must come to the same choice: `connect` refuses addresses of another
/// transport. Where can_be_tcp_instead() and some node has failed, all open "tcp".
[[nodiscard]] base::result<std::unique_ptr<transport>> open(const wanted& how);

/// Whether TCP does as well, when what open() would open with these cannot be had on some node.
[[nodiscard]] bool can_be_tcp_instead(std::string_view kind, bool all_local) noexcept;

}  // namespace quire::transport
