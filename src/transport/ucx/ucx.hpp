// SPDX-License-Identifier: BSD-3-Clause
// The UCX body of the transport: active messages over TCP, or what the user's UCX_TLS names. Opened by
// src/transport/open.cpp.
#pragma once

#include <memory>
#include <string>

#include "base/siphash.hpp"
#include "base/status.hpp"
#include "transport/transport.hpp"

namespace quire::transport::ucx {

/// What differs between hosts and one host. A UCX_TLS, UCX_RNDV_THRESH or any other UCX_ variable that the user has set
/// in the environment wins over what stands here.
struct settings {
  const char* name;                ///< for people
  const char* transports;          ///< UCX_TLS
  const char* rendezvous_bytes;    ///< UCX_RNDV_THRESH: larger payloads are announced first and need no bounce buffer
  bool reports_losses;             ///< whether UCX notices that a peer has died
  const char* variable = nullptr;  ///< one more, and its value
  const char* value = nullptr;
  bool system_library = false;  ///< not the UCX that was packed with libquire (library.hpp)
};

// The figures: request and reply in fresh memory, medians, two processes on a quiet machine with 2 cores.

/// On one host, where UCX_TLS wins over `transports`. With cma UCX 1.13 aborts the survivor when a peer dies during a
/// copy. Eager messages above 8 KiB are put
/// together in a buffer first: faster up to 16 KiB (3.2 us against 3.9), slower from 32 KiB on (6.2 against 5.3; 256
/// KiB: 56 against 33). One message of 64 KiB moves 5.5 to 7.5 GB/s, of 256 KiB 8, of 1 to 2 MiB 9 to 10. UCX touches
/// all buffers of 8 KiB that it makes at once, at the start 512: twice as many as its queue, which keeps 256, ever
/// takes without messages that wait.
inline constexpr settings shared_memory{"ucx posix", "posix", "32k", false, "UCX_POSIX_RX_BUFS_GROW", "320"};

/// A rendezvous costs two more exchanges (64 KiB: 70 us against 36), but then the bytes go straight to their place (2
/// MiB: 5 GB/s against 2.4). They meet at about 256 KiB. One socket at a time: of several with news, UCX 1.13 closes
/// those of a dead peer while it looks at the first, and aborts when it comes to them ("ep->conn_state !=
/// UCT_TCP_EP_CONN_STATE_CLOSED"; 6 of 300 deaths beside two busy processes).
inline constexpr settings tcp{"ucx tcp", "tcp", "256k", true, "UCX_TCP_MAX_POLL", "1"};

/// Loads UCX and opens a worker on these network interfaces (UCX_NET_DEVICES; "all" on one host), which talks to
/// nodes of the job with this secret only. QUIRE_UNSUPPORTED, QUIRE_SYSTEM; the reason is logged. Not for fault
/// context.
[[nodiscard]] base::result<std::unique_ptr<transport>> open(const settings& how, const std::string& devices,
                                                            const base::secret& job);

}  // namespace quire::transport::ucx
