// SPDX-License-Identifier: BSD-3-Clause
// Messages that nobody reads or changes between two nodes: around any other transport. A message and its payload are
// the payload of another one, encrypted and authenticated under a key of the pair and the direction, with a number that
// is used once: what was changed, repeated or left out is noticed, and ends the connection.
//
// Keys: each node makes a pair of X25519 for the job and gives the public half with its address, by the launcher. A key
// is the BLAKE2b hash, under the job's secret, of what two nodes compute from both halves, of these, and of the
// direction. So who has listened to all, the launcher's words too, cannot read; who can change the launcher's words
// can. The ciphers are libsodium's (sodium.hpp): AES-256-GCM where all nodes have the instructions, else
// ChaCha20-Poly1305.
#pragma once

#include <memory>

#include "base/siphash.hpp"
#include "base/status.hpp"
#include "transport/transport.hpp"

namespace quire::transport::sealed {

/// `inner`, sealed. All nodes of the job must do so: connect() refuses others. QUIRE_UNSUPPORTED without libsodium,
/// QUIRE_SYSTEM without random numbers; the reason is logged. Not for fault context.
[[nodiscard]] base::result<std::unique_ptr<transport>> wrap(std::unique_ptr<transport> inner, const base::secret& job);

}  // namespace quire::transport::sealed
