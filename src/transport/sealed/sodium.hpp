// SPDX-License-Identifier: BSD-3-Clause
// libsodium as a library that is loaded when it is asked for: keys that are agreed on, and messages under them. Its
// functions take no memory and no lock once it has begun, so that a thread may seal while it serves a fault.
#pragma once

#include <cstddef>

#include "base/status.hpp"

namespace quire::transport::sealed {

/// As sodium.h declares them. The two ciphers are AES-256-GCM, with a key that was made ready, and ChaCha20-Poly1305
/// (RFC 8439): nonces of 12 bytes, tags of 16 behind the text, which may be sealed and opened in its place.
struct sodium {
  using bytes = unsigned char;
  using length = unsigned long long;

  int (*init)();
  void (*zero)(void* memory, std::size_t size);
  int (*public_key)(bytes* made, const bytes* own);
  int (*shared_key)(bytes* made, const bytes* own, const bytes* theirs);
  int (*hash)(bytes* made, std::size_t made_size, const bytes* text, length size, const bytes* key,
              std::size_t key_size);
  int (*has_aes)();
  std::size_t (*aes_key_size)();
  int (*aes_ready)(void* ready, const bytes* key);
  int (*aes_seal)(bytes* out, length* out_size, const bytes* text, length size, const bytes* more, length more_size,
                  const bytes* none, const bytes* nonce, const void* ready);
  int (*aes_open)(bytes* out, length* out_size, bytes* none, const bytes* text, length size, const bytes* more,
                  length more_size, const bytes* nonce, const void* ready);
  int (*chacha_seal)(bytes* out, length* out_size, const bytes* text, length size, const bytes* more, length more_size,
                     const bytes* none, const bytes* nonce, const bytes* key);
  int (*chacha_open)(bytes* out, length* out_size, bytes* none, const bytes* text, length size, const bytes* more,
                     length more_size, const bytes* nonce, const bytes* key);
};

/// QUIRE_UNSUPPORTED, after a message, if it is not installed, or too old. Not for fault context.
[[nodiscard]] base::result<const sodium*> load_sodium() noexcept;

}  // namespace quire::transport::sealed
