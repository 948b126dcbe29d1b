// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sealed/cipher.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace quire::transport::sealed {
namespace {

unsigned char* chars(std::span<std::byte> text) noexcept { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

void cipher::begin(const sodium& with, const key& of, bool aes) noexcept {
  with_ = &with;
  aes_ = aes;
  if (aes) {
    (void)with.aes_ready(ready_.data(), of.data());
  } else {
    std::copy(of.begin(), of.end(), ready_.begin());
  }
}

cipher::nonce cipher::next() noexcept {
  nonce made{};
  std::memcpy(made.data(), &count_, sizeof count_);
  ++count_;
  return made;
}

void cipher::seal(std::span<std::byte> text) noexcept {
  CHECK(with_ != nullptr && text.size() >= tag_bytes);
  unsigned char* const at = chars(text);
  const auto bytes = text.size() - tag_bytes;
  const nonce number = next();
  const int failed =
      aes_ ? with_->aes_seal(at, nullptr, at, bytes, nullptr, 0, nullptr, number.data(), ready_.data())
           : with_->chacha_seal(at, nullptr, at, bytes, nullptr, 0, nullptr, number.data(), ready_.data());
  CHECK(failed == 0);
}

bool cipher::open(std::span<std::byte> text) noexcept {
  if (with_ == nullptr || text.size() < tag_bytes) return false;
  unsigned char* const at = chars(text);
  const nonce number = next();
  return (aes_ ? with_->aes_open(at, nullptr, nullptr, at, text.size(), nullptr, 0, number.data(), ready_.data())
               : with_->chacha_open(at, nullptr, nullptr, at, text.size(), nullptr, 0, number.data(), ready_.data())) ==
         0;
}

}  // namespace quire::transport::sealed
