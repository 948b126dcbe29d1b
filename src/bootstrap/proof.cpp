// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/proof.hpp"

#include <sys/random.h>

namespace quire::bootstrap {
namespace {

enum class side : std::uint64_t { listener, caller };

std::uint64_t hash_of(side says, const challenge& asked, const base::secret& secret, std::uint64_t rank,
                      const nonce& number) noexcept {
  const struct {
    std::uint64_t what, side;
    nonce first;
    std::uint64_t rank;
    nonce second;
  } text{what_it_is, static_cast<std::uint64_t>(says), asked.number, rank, number};
  return base::siphash_of(secret, text);
}

}  // namespace

bool make(nonce& number) noexcept { return ::getrandom(&number, sizeof number, 0) == sizeof number; }

answer answer_to(const challenge& asked, const base::secret& secret, int rank, const nonce& number) noexcept {
  const auto who = static_cast<std::uint64_t>(rank);
  return {what_it_is, who, number, hash_of(side::caller, asked, secret, who, number)};
}

verdict verdict_on(const challenge& asked, const base::secret& secret, const answer& told) noexcept {
  // A difference of whole words: the time tells nothing of the hash.
  const std::uint64_t wrong =
      (told.what ^ what_it_is) | (told.hash ^ hash_of(side::caller, asked, secret, told.rank, told.number));
  if (wrong != 0) return {refused, 0};
  return {accepted, hash_of(side::listener, asked, secret, told.rank, told.number)};
}

bool is_right(const verdict& heard, const challenge& asked, const base::secret& secret, const answer& told) noexcept {
  return ((heard.what ^ accepted) | (heard.hash ^ hash_of(side::listener, asked, secret, told.rank, told.number))) == 0;
}

}  // namespace quire::bootstrap
