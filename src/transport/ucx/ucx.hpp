// The UCX body of the transport: active messages over shared memory or TCP. Opened by src/transport/open.cpp.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "transport/transport.hpp"

namespace quire::transport::ucx {

/// What differs between the two ways. A UCX_TLS, UCX_RNDV_THRESH or any other UCX_ variable that the user has set in
/// the environment wins over what stands here.
struct settings {
  const char* name;        ///< for people
  const char* transports;  ///< UCX_TLS
  const char*
      rendezvous_bytes;  ///< UCX_RNDV_THRESH: payloads from here on are announced first, and need no bounce buffer
  bool reports_losses;   ///< whether UCX notices that a peer has died
};

/// No cma (UCX 1.13 aborts the survivor when a peer dies in a copy) and no sysv (a segment may stay behind); posix
/// unlinks its files at once. One message of 256 KiB to 2 MiB moves 8 to 10 GB/s in fresh memory, which is memcpy's;
/// eager messages are faster up to 16 KiB, but stay below 5 GB/s from 64 KiB on, as they are put together in a buffer
/// first.
inline constexpr settings shared_memory{"ucx posix", "posix", "32k", false};

/// A rendezvous costs two more exchanges (64 KiB: 70 us against 36), but then the bytes go straight to their place (2
/// MiB: 5 GB/s against 2.5). They meet between 256 and 512 KiB.
inline constexpr settings tcp{"ucx tcp", "tcp", "256k", true};

/// Loads UCX and opens a worker. QUIRE_UNSUPPORTED, QUIRE_SYSTEM; the reason is logged. Not for fault context.
[[nodiscard]] base::result<std::unique_ptr<transport>> open(const settings& how);

}  // namespace quire::transport::ucx
