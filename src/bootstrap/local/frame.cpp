// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/frame.hpp"

#include <cstring>
#include <type_traits>

#include "base/options.hpp"

namespace quire::bootstrap::local {
namespace {

struct header {
  std::uint32_t kind;
  std::int32_t node;
  std::uint32_t bytes;
};
static_assert(std::is_trivially_copyable_v<header>);

// The longest addresses of 1,024 nodes fit; more than that is a broken stream, not a large one.
constexpr std::uint32_t most_payload_bytes = 64u << 20;
static_assert(base::most_nodes * (most_address_bytes + sizeof(std::uint32_t)) <= most_payload_bytes);

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string encode(frame_kind kind, int node, std::string_view payload) {
  std::string bytes;
  bytes.reserve(sizeof(header) + payload.size());
  put(bytes, header{static_cast<std::uint32_t>(kind), node, static_cast<std::uint32_t>(payload.size())});
  return bytes.append(payload);
}

void frame_reader::append(std::string_view bytes) {
  bytes_.erase(0, at_);
  at_ = 0;
  bytes_.append(bytes);
}

std::optional<frame> frame_reader::next() {
  header head;
  if (broken_ || bytes_.size() - at_ < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes_.data() + at_, sizeof head);
  if (head.kind < static_cast<std::uint32_t>(frame_kind::hello) ||
      head.kind > static_cast<std::uint32_t>(frame_kind::last) || head.bytes > most_payload_bytes) {
    broken_ = true;
    return std::nullopt;
  }
  if (bytes_.size() - at_ - sizeof head < head.bytes) return std::nullopt;
  frame whole{static_cast<frame_kind>(head.kind), head.node, bytes_.substr(at_ + sizeof head, head.bytes)};
  at_ += sizeof head + head.bytes;
  return whole;
}

std::string pack_addresses(std::span<const std::string> addresses) {
  std::string packed;
  for (const auto& address : addresses) {
    put(packed, static_cast<std::uint32_t>(address.size()));
    packed += address;
  }
  return packed;
}

std::optional<std::vector<std::vector<std::byte>>> unpack_addresses(std::string_view packed, int nodes) {
  const auto strings = unpack_strings(packed);
  if (!strings || strings->size() != static_cast<std::size_t>(nodes)) return std::nullopt;
  std::vector<std::vector<std::byte>> addresses;
  for (const auto& string : *strings) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(string.data());
    addresses.emplace_back(bytes, bytes + string.size());
  }
  return addresses;
}

std::optional<std::vector<std::string>> unpack_strings(std::string_view packed) {
  std::vector<std::string> strings;
  while (!packed.empty()) {
    std::uint32_t size;
    if (packed.size() < sizeof size) return std::nullopt;
    std::memcpy(&size, packed.data(), sizeof size);
    packed.remove_prefix(sizeof size);
    if (packed.size() < size) return std::nullopt;
    strings.emplace_back(packed.substr(0, size));
    packed.remove_prefix(size);
  }
  return strings;
}

}  // namespace quire::bootstrap::local
