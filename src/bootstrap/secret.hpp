// SPDX-License-Identifier: BSD-3-Clause
// The secret of a job: each node gives a random share, which travels by the launcher (a socket pair, a pipe of ssh,
// PMIx) and by nothing else: not in the environment, not on a command line, not in a file. Without a launcher the
// shares travel over a network, where others may read them: then the secret follows from them and from what the user
// has given to all nodes (bootstrap::known_secret), which does not travel. Called once, before the transport opens.
#pragma once

#include "base/siphash.hpp"
#include "base/status.hpp"
#include "bootstrap/bootstrap.hpp"

namespace quire::bootstrap {

/// Collective, like exchange(), with its errors; QUIRE_INVALID when a node gives no share: it runs another version of
/// Quire.
[[nodiscard]] base::result<base::secret> agree_on_secret(bootstrap& job);

}  // namespace quire::bootstrap
