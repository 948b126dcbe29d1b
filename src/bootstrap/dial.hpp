// SPDX-License-Identifier: BSD-3-Clause
// Connecting to another process of a job over TCP, with a proof of the job's secret from both (proof.hpp). At the start
// of a node; blocks until a deadline.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/siphash.hpp"
#include "base/status.hpp"
#include "os/process.hpp"

namespace quire::bootstrap {

/// A connection that does not block; none, with a sentence in `why`.
[[nodiscard]] os::descriptor connect_to(const sockaddr* address, socklen_t bytes, std::uint64_t deadline_ns,
                                        std::string& why);

/// The caller's part of the proof, as `rank`. PEER_LOST: it may be worth another try; INVALID: something else answers;
/// BAD_OPTION: it knows another secret; SYSTEM. The sentence in `why` names it by `whom`.
[[nodiscard]] base::status introduce(int number, const base::secret& secret, int rank, const std::string& whom,
                                     std::uint64_t deadline_ns, std::string& why);

/// The listener's part; who the caller is. PEER_LOST: it is none of this job, or says nothing until the deadline.
[[nodiscard]] base::result<int> welcome(int number, const base::secret& secret, std::uint64_t deadline_ns);

}  // namespace quire::bootstrap
