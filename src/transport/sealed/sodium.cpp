// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sealed/sodium.hpp"

#include <dlfcn.h>

#include "base/log.hpp"
#include "os/taken_names.hpp"

namespace quire::transport::sealed {
namespace {

template <class F>
bool find(void* handle, const char* name, F& function) noexcept {
  function = reinterpret_cast<F>(::dlsym(handle, name));
  if (function == nullptr) base::log(base::log_level::error, "libsodium lacks the function %s", name);
  return function != nullptr;
}

void* open_library() noexcept {
  const int past_program = os::are_names_of_libc_taken() ? RTLD_DEEPBIND : 0;
  for (const char* const name : {"libsodium.so.26", "libsodium.so.23"}) {
    if (void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | past_program)) return handle;
  }
  base::log(base::log_level::error,
            "messages between nodes are to be encrypted, and libsodium cannot be loaded: %s (Debian: apt install "
            "libsodium23)",
            ::dlerror());
  return nullptr;
}

const sodium* load_once() noexcept {
  static sodium s{};
  void* const handle = open_library();
  if (handle == nullptr) return nullptr;
  const bool has_all = find(handle, "sodium_init", s.init) && find(handle, "sodium_memzero", s.zero) &&
                       find(handle, "crypto_scalarmult_curve25519_base", s.public_key) &&
                       find(handle, "crypto_scalarmult_curve25519", s.shared_key) &&
                       find(handle, "crypto_generichash_blake2b", s.hash) &&
                       find(handle, "crypto_aead_aes256gcm_is_available", s.has_aes) &&
                       find(handle, "crypto_aead_aes256gcm_statebytes", s.aes_key_size) &&
                       find(handle, "crypto_aead_aes256gcm_beforenm", s.aes_ready) &&
                       find(handle, "crypto_aead_aes256gcm_encrypt_afternm", s.aes_seal) &&
                       find(handle, "crypto_aead_aes256gcm_decrypt_afternm", s.aes_open) &&
                       find(handle, "crypto_aead_chacha20poly1305_ietf_encrypt", s.chacha_seal) &&
                       find(handle, "crypto_aead_chacha20poly1305_ietf_decrypt", s.chacha_open);
  return has_all && s.init() >= 0 ? &s : nullptr;
}

}  // namespace

base::result<const sodium*> load_sodium() noexcept {
  static const sodium* const loaded = load_once();
  if (loaded == nullptr) return QUIRE_UNSUPPORTED;
  return loaded;
}

}  // namespace quire::transport::sealed
