// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a fuzzer, a piece at a time; and what to do when a decoder has let nonsense in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace quire::fuzz {

#define MUST(condition)                                                                  \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

class input {
 public:
  input(const std::uint8_t* data, std::size_t bytes) : rest_(reinterpret_cast<const std::byte*>(data), bytes) {}
  template <class T>
  T take() {
    T value{};
    const std::size_t bytes = std::min(sizeof value, rest_.size());
    std::memcpy(&value, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    return value;
  }
  std::span<const std::byte> take(std::size_t bytes) {
    const auto piece = rest_.first(std::min(bytes, rest_.size()));
    rest_ = rest_.subspan(piece.size());
    return piece;
  }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace quire::fuzz
