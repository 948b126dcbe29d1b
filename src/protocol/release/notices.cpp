// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/notices.hpp"

#include <cstring>
#include <limits>

namespace quire::release {
namespace {

constexpr std::uint8_t flag_origin = 1, flag_last = 2, flag_moved = 4, flag_life = 8;
constexpr std::size_t longest_record = 1 + 3 + 3 + 5 + 5 + 3 + 3 + 10 + 5;

std::byte* put(std::byte* at, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<std::byte>(value | 0x80);
  *at++ = static_cast<std::byte>(value);
  return at;
}
std::uint64_t zigzag(std::uint64_t difference) noexcept {
  return difference << 1 ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(difference) >> 63);
}
std::uint64_t unzigzag(std::uint64_t value) noexcept { return value >> 1 ^ (0 - (value & 1)); }

bool same_origin(const notice& a, const notice& b) noexcept {
  return a.writer == b.writer && a.region == b.region && a.life == b.life && a.interval == b.interval;
}

}  // namespace

bool notice_writer::add(const notice& n) noexcept {
  std::byte record[longest_record];
  const bool origin = size_ == 0 || !same_origin(n, before_);
  std::byte* at = record;
  *at++ = static_cast<std::byte>((origin ? flag_origin : 0) | (n.last ? flag_last : 0) |
                                 (n.moves != 0 ? flag_moved : 0) | (origin && n.life != 0 ? flag_life : 0));
  if (origin) at = put(put(put(at, n.writer.value()), n.region.value()), n.interval);
  if (origin && n.life != 0) at = put(at, n.life);
  if (n.moves != 0) at = put(put(at, n.home.value()), n.moves);
  const std::uint64_t expected = origin ? 0 : before_.first + before_.count;
  at = put(put(at, zigzag(n.first - expected)), n.count);
  const auto bytes = static_cast<std::size_t>(at - record);
  if (bytes > room_.size() - size_) return false;
  std::memcpy(room_.data() + size_, record, bytes);
  size_ += bytes;
  before_ = n;
  return true;
}

bool notice_reader::read(std::uint64_t& value, std::uint64_t most) noexcept {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value <= most;
  }
  return false;
}

bool notice_reader::next(notice& n) noexcept {
  if (bytes_.empty() || !ok_) return false;
  const auto flags = static_cast<std::uint8_t>(bytes_.front());
  bytes_ = bytes_.subspan(1);
  ok_ = false;
  if ((flags & ~(flag_origin | flag_last | flag_moved | flag_life)) != 0 ||
      ((flags & flag_origin) == 0 && (!any_ || (flags & flag_life) != 0)))
    return false;
  std::uint64_t a = 0, b = 0, c = 0;
  const bool origin = (flags & flag_origin) != 0;
  n = {};
  n.writer = before_.writer;
  n.region = before_.region;
  n.life = before_.life;
  n.interval = before_.interval;
  if (origin) {
    if (!read(a, model::max_nodes - 1) || !read(b, std::numeric_limits<std::uint16_t>::max()) ||
        !read(c, std::numeric_limits<std::uint32_t>::max())) {
      return false;
    }
    n.writer = node_id{static_cast<std::uint16_t>(a)};
    n.region = model::region_id{static_cast<std::uint16_t>(b)};
    n.interval = static_cast<std::uint32_t>(c);
    n.life = 0;
    if ((flags & flag_life) != 0) {
      if (!read(a, std::numeric_limits<std::uint32_t>::max()) || a == 0) return false;
      n.life = static_cast<std::uint32_t>(a);
    }
  }
  if ((flags & flag_moved) != 0) {
    if (!read(a, model::max_nodes - 1) || !read(b, std::numeric_limits<std::uint16_t>::max()) || b == 0) return false;
    n.home = node_id{static_cast<std::uint16_t>(a)};
    n.moves = static_cast<std::uint16_t>(b);
  }
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  if (!read(a, any) || !read(b, max_notice_units)) return false;
  n.first = (origin ? 0 : before_.first + before_.count) + unzigzag(a);
  n.count = static_cast<std::uint32_t>(b);
  n.last = (flags & flag_last) != 0;
  before_ = n;
  any_ = ok_ = true;
  return true;
}

}  // namespace quire::release
