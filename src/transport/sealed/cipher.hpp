// SPDX-License-Identifier: BSD-3-Clause
// One direction of a pair of nodes: a key of its own, and a number that no two texts under it share. Texts are opened
// in the order in which they were sealed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/sealed/sodium.hpp"

namespace quire::transport::sealed {

using key = std::array<unsigned char, 32>;

class cipher {
 public:
  /// What a sealed text has behind it.
  static constexpr std::size_t tag_bytes = 16;

  cipher() noexcept = default;
  cipher(const cipher&) = delete;
  cipher& operator=(const cipher&) = delete;

  /// Once. With AES-256-GCM, or ChaCha20-Poly1305.
  void begin(const sodium& with, const key& of, bool aes) noexcept;
  /// Seals the first bytes of `text` in their place; the last `tag_bytes` become the tag. Any context.
  void seal(std::span<std::byte> text) noexcept;
  /// The reverse. False: it is not the next text that was sealed, and `text` is of no use.
  [[nodiscard]] bool open(std::span<std::byte> text) noexcept;
  /// Whether AES-256-GCM can be had on this machine.
  [[nodiscard]] static bool has_aes(const sodium& with) noexcept {
    return with.has_aes() != 0 && with.aes_key_size() <= ready_bytes;
  }

 private:
  static constexpr std::size_t ready_bytes = 512;
  using nonce = std::array<unsigned char, 12>;
  [[nodiscard]] nonce next() noexcept;

  const sodium* with_ = nullptr;
  bool aes_ = false;
  std::uint64_t count_ = 0;
  alignas(64) std::array<unsigned char, ready_bytes> ready_{};  ///< the key, made ready for AES, or as it is
};

}  // namespace quire::transport::sealed
