// SPDX-License-Identifier: BSD-3-Clause
// What the environment says about a rendezvous: where rank 0 waits, who this process is, what it knows. Called once,
// by join_launched().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/siphash.hpp"
#include "base/status.hpp"

namespace quire::bootstrap::rendezvous {

/// Fewer characters can be guessed.
inline constexpr std::size_t least_secret_bytes = 16;

struct place {
  std::string host;  ///< of rank 0; "" only where QUIRE_RENDEZVOUS was not set
  std::uint16_t port = 0;
  int rank = 0, size = 1;
  base::secret secret{};  ///< of what the user gave; the job's own comes of it (bootstrap/secret.hpp)
  int limit_s = 0;
  [[nodiscard]] std::string address() const;  ///< "host:port", for people
};

/// The key that a text stands for.
[[nodiscard]] base::secret secret_of(std::string_view text) noexcept;

/// From "NAME=value" strings, ended by a null pointer. NOT_FOUND where they tell of no rendezvous; BAD_OPTION, with a
/// sentence in `why`, where they make no sense.
[[nodiscard]] base::result<place> read_place(const char* const* environment, std::string& why);

}  // namespace quire::bootstrap::rendezvous
