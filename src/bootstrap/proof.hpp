// SPDX-License-Identifier: BSD-3-Clause
// The first words on a connection between processes of a job: each proves that it knows the secret, and does not say
// it. Pure. With rendezvous who listens is rank 0; on a line (lines/lines.hpp) the node with the lower number.
//
//   listener -> caller    challenge   a number used once
//   caller -> listener    answer      its rank, a number used once, and a hash of all that under the secret
//   listener -> caller    verdict     accepted, with a hash of the listener's own; or refused
//
// What follows is neither encrypted nor authenticated, as messages between nodes are not.
#pragma once

#include <cstdint>

#include "base/siphash.hpp"

namespace quire::bootstrap {

struct nonce {
  std::uint64_t words[2];
};
struct challenge {
  std::uint64_t what;
  nonce number;
};
struct answer {
  std::uint64_t what;
  std::uint64_t rank;
  nonce number;
  std::uint64_t hash;
};
struct verdict {
  std::uint64_t what;
  std::uint64_t hash;
};
inline constexpr std::uint64_t what_it_is = 0x3130'5644'5251'4951;  // "QIQRDV01"
inline constexpr std::uint64_t accepted = 0x4b4f'5644'5251'4951;    // "QIQRDVOK"
inline constexpr std::uint64_t refused = 0x4f4e'5644'5251'4951;     // "QIQRDVNO"

/// A new one; false if the system has no random numbers.
[[nodiscard]] bool make(nonce& number) noexcept;
[[nodiscard]] answer answer_to(const challenge& asked, const base::secret& secret, int rank,
                               const nonce& number) noexcept;
[[nodiscard]] verdict verdict_on(const challenge& asked, const base::secret& secret, const answer& told) noexcept;
/// Whether the listener, which has accepted, knows the secret.
[[nodiscard]] bool is_right(const verdict& heard, const challenge& asked, const base::secret& secret,
                            const answer& told) noexcept;

}  // namespace quire::bootstrap
