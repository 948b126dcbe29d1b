// SPDX-License-Identifier: BSD-3-Clause
// What nodes tell each other in a collection, packed: numbers of 7 bits a byte, of references the differences between
// them in ascending order. So some hundred references are a message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace quire::gc {

enum class item : std::uint8_t {
  references = 1,  ///< granules, each as the distance to the one before: mark these objects, whose headers you keep
  sections,        ///< granule, type, first byte, bytes behind it: mark what this part of an object refers to
  live,            ///< granules of your slice: distance to the end of the run before, length
  kept,            ///< units that the sender keeps: distance, length
  evidence,        ///< unit, 64 words: what the sender wrote of it
  wishes,          ///< granule, length: objects that should move to your slice
  moves,           ///< granule, new granule, length: they have moved
  wave,            ///< from node 0: tell me when you have nothing to do
  answer,          ///< and back
  marked,          ///< from node 0: everything is marked
  last = marked,
};

/// One message's content, while it grows.
class packer {
 public:
  static constexpr std::size_t capacity = 512;
  /// All of these numbers, or none: false if there is no room.
  template <class... N>
  [[nodiscard]] bool add(N... numbers) noexcept {
    const std::size_t before = size_;
    if ((put(numbers) && ...)) return true;
    size_ = before;
    return false;
  }
  [[nodiscard]] std::span<const std::byte> content() const noexcept { return {bytes_.data(), size_}; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept { size_ = 0; }

 private:
  [[nodiscard]] bool put(std::uint64_t number) noexcept {
    do {
      if (size_ == capacity) return false;
      bytes_[size_++] = static_cast<std::byte>((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
      number >>= 7;
    } while (number != 0);
    return true;
  }
  std::array<std::byte, capacity> bytes_{};
  std::size_t size_ = 0;
};

class unpacker {
 public:
  explicit unpacker(std::span<const std::byte> from) noexcept : rest_(from) {}
  [[nodiscard]] bool more() const noexcept { return !rest_.empty(); }
  /// Nothing if the content is torn.
  [[nodiscard]] std::optional<std::uint64_t> take() noexcept {
    std::uint64_t number = 0;
    for (unsigned shift = 0; !rest_.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    rest_ = {};
    return std::nullopt;
  }
  /// Several; false if the content is torn.
  template <class... N>
  [[nodiscard]] bool take(N&... numbers) noexcept {
    bool good = true;
    ((good = good && take_into(numbers)), ...);
    return good;
  }

 private:
  bool take_into(std::uint64_t& number) noexcept {
    const auto got = take();
    if (got) number = *got;
    return got.has_value();
  }
  std::span<const std::byte> rest_;
};

/// Where packed items go.
class outlet {
 public:
  virtual void send(unsigned node, item what, std::span<const std::byte> content) = 0;

 protected:
  ~outlet() = default;
};

}  // namespace quire::gc
