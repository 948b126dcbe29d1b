// SPDX-License-Identifier: BSD-3-Clause
// A short text under a key: SipHash-2-4 (Aumasson and Bernstein, 2012), which nobody can foretell who does not know the
// key. Used where a job tells its own from strangers (src/bootstrap, src/wire, src/transport). No heap, no system call.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace quire::base {

/// What the processes of a job know, and nobody else.
struct secret {
  std::uint64_t first = 0, second = 0;
};

namespace sip {
struct state {
  std::uint64_t a, b, c, d;
  constexpr void round() noexcept {
    a += b, b = std::rotl(b, 13) ^ a, a = std::rotl(a, 32);
    c += d, d = std::rotl(d, 16) ^ c;
    a += d, d = std::rotl(d, 21) ^ a;
    c += b, b = std::rotl(b, 17) ^ c, c = std::rotl(c, 32);
  }
  constexpr void take(std::uint64_t word) noexcept {
    d ^= word;
    round(), round();
    a ^= word;
  }
};
}  // namespace sip

[[nodiscard]] inline std::uint64_t siphash(const secret& key, std::span<const std::byte> text) noexcept {
  sip::state s{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d, key.first ^ 0x6c7967656e657261,
               key.second ^ 0x7465646279746573};
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    s.take(word);
  }
  std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
  for (unsigned i = 0; at + i < text.size(); ++i) last |= static_cast<std::uint64_t>(text[at + i]) << (8 * i);
  s.take(last);
  s.c ^= 0xff;
  for (int i = 0; i < 4; ++i) s.round();
  return s.a ^ s.b ^ s.c ^ s.d;
}

/// Of plain data.
template <class T>
[[nodiscard]] std::uint64_t siphash_of(const secret& key, const T& value) noexcept {
  static_assert(std::has_unique_object_representations_v<T>);
  return siphash(key, std::as_bytes(std::span<const T, 1>(&value, 1)));
}

}  // namespace quire::base
