// SPDX-License-Identifier: BSD-3-Clause
// How another rank reaches rank 0, which may come later, or may not have a name yet.
#pragma once

#include <cstdint>
#include <string>

#include "bootstrap/rendezvous/place.hpp"
#include "os/process.hpp"

namespace quire::bootstrap::rendezvous {

/// A connection on which both ends have proved that they know the secret; it does not block. TIMED_OUT, BAD_OPTION
/// (another secret), INVALID (something else answers there), with a sentence in `why`.
[[nodiscard]] base::result<os::descriptor> reach(const place& where, std::uint64_t deadline_ns, std::string& why);

}  // namespace quire::bootstrap::rendezvous
