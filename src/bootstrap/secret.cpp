// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/secret.hpp"

#include <sys/random.h>

#include <cstring>
#include <span>

#include "base/log.hpp"

namespace quire::bootstrap {

base::result<base::secret> agree_on_secret(bootstrap& job) {
  base::secret share;
  if (::getrandom(&share, sizeof share, 0) != sizeof share) return QUIRE_SYSTEM;
  const auto shares = job.exchange(std::as_bytes(std::span(&share, 1)));
  if (!shares.ok()) return shares.why();
  base::secret both = job.known_secret();
  for (std::size_t node = 0; node < shares.value().size(); ++node) {
    const auto& theirs = shares.value()[node];
    if (theirs.size() != sizeof share) {
      base::log(base::log_level::error, "node %zu runs another version of Quire", node);
      return QUIRE_INVALID;
    }
    std::memcpy(&share, theirs.data(), sizeof share);
    // Each bit of each share counts for both halves.
    struct {
      std::uint64_t half;
      base::secret share;
    } text{0, share};
    const std::uint64_t first = base::siphash_of(both, text);
    text.half = 1;
    both = {first, base::siphash_of(both, text)};
  }
  return both;
}

}  // namespace quire::bootstrap
