// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/watch/stub.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>

namespace quire::program::watch {
namespace {

constexpr std::size_t jump_bytes = 5, distance_bytes = 4;
constexpr std::uint8_t jump = 0xe9, breakpoint = 0xcc,
                       no_segment = 0x26;  ///< the last: a prefix that has no meaning in 64-bit code

class writer {
 public:
  explicit writer(std::uint64_t at) noexcept : at_(at) {}
  void put(std::initializer_list<int> bytes) noexcept {
    for (const int b : bytes) put_byte(static_cast<std::uint8_t>(b));
  }
  void put_byte(std::uint8_t b) noexcept { all_.bytes[all_.size++] = b; }
  template <class T>
  void put_word(T value) noexcept {
    std::memcpy(all_.bytes.data() + all_.size, &value, sizeof value);
    all_.size += sizeof value;
  }
  void put(std::span<const std::uint8_t> bytes) noexcept {
    for (const std::uint8_t b : bytes) put_byte(b);
  }
  /// The distance from the end of an instruction, of which so many bytes follow, to an address.
  void put_distance(std::uint64_t to, std::size_t following = 0) noexcept {
    const auto distance = static_cast<std::int64_t>(to - (at_ + all_.size + distance_bytes + following));
    if (distance != static_cast<std::int32_t>(distance)) fits_ = false;
    put_word(static_cast<std::int32_t>(distance));
  }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size; }
  void set(std::size_t where, std::size_t value) noexcept { all_.bytes[where] = static_cast<std::uint8_t>(value); }
  [[nodiscard]] std::optional<encoded> get() const noexcept { return fits_ ? std::optional(all_) : std::nullopt; }

 private:
  std::uint64_t at_;
  encoded all_{};
  bool fits_ = true;
};

std::uint64_t operand_of(const sites::site& s, std::uint64_t at) noexcept {
  std::int32_t distance = 0;
  std::memcpy(&distance, s.bytes.data() + s.displacement_at, sizeof distance);
  return at + s.length + static_cast<std::uint64_t>(std::int64_t{distance});
}

/// lea OPERAND,%rax
void put_address(writer& w, const sites::site& s, std::uint64_t at) noexcept {
  constexpr int wide = 0x48, extensions = 0x03, without_register = 0xc7;
  w.put({wide | (s.rex & extensions), 0x8d, s.bytes[s.modrm_at] & without_register});
  if (s.relative) return w.put_distance(operand_of(s, at));
  const std::uint8_t modrm = s.bytes[s.modrm_at], form = modrm >> 6, base = modrm & 7;
  const bool has_sib = base == 4;
  std::size_t bytes = has_sib ? 1 : 0;
  if (form == 1) bytes += 1;
  if (form == 2 || (form == 0 && has_sib && (s.bytes[s.modrm_at + 1u] & 7) == 5)) bytes += 4;
  w.put(std::span(s.bytes).subspan(s.modrm_at + 1u, std::min(bytes, s.bytes.size() - s.modrm_at - 1u)));
}

void put_update(writer& w, const sites::site& s, std::uint64_t at) noexcept {
  const std::span<const std::uint8_t> all(s.bytes.data(), s.length);
  if (!s.relative) return w.put(all);
  w.put(all.first(s.displacement_at));
  const std::size_t rest = all.size() - s.displacement_at - distance_bytes;
  w.put_distance(operand_of(s, at), rest);
  w.put(all.last(rest));
}

}  // namespace

std::vector<place> places_for(const sites::site& s, std::uint64_t at,
                              std::span<const std::uint8_t, most_following> following) {
  std::vector<place> all;
  constexpr std::uint64_t near = std::uint64_t{1} << 31, top = std::uint64_t{1} << 47;
  for (unsigned prefixes = 0; prefixes < s.length; ++prefixes) {
    const std::uint64_t end = at + prefixes + jump_bytes;
    const std::size_t own = std::min<std::size_t>(s.length - prefixes - 1u, distance_bytes);
    if (own == distance_bytes) {
      const std::uint64_t first = end > near ? end - near : 0;
      all.push_back({first, end + near - 1 - first, prefixes});
      return all;
    }
    std::uint32_t distance = 0;
    std::memcpy(reinterpret_cast<std::uint8_t*>(&distance) + own, following.data(), distance_bytes - own);
    const std::uint64_t first = end + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(distance)});
    const std::uint64_t bytes = std::uint64_t{1} << 8 * own;
    if (first < top && first + bytes < top) all.push_back({first, bytes, prefixes});
  }
  return all;
}

std::optional<encoded> encode_stub(const sites::site& s, std::uint64_t at, std::uint64_t stub,
                                   const watch_table* table) {
  writer w(stub);
  w.put({0x48, 0x8d, 0x64, 0x24, 0x80, 0x50});  // lea -128(%rsp),%rsp; push %rax
  if (s.keeps_flags) w.put({0x9c});
  put_address(w, s, at);
  w.put({0x51, 0x48, 0xb9});  // push %rcx; mov $table,%rcx
  w.put_word(reinterpret_cast<std::uint64_t>(table));
  w.put({0x48, 0x2b, 0x01, 0x48, 0x3b, 0x41, 0x08, 0x72, 0x00});  // sub (%rcx),%rax; cmp 8(%rcx),%rax; jb over the call
  const std::size_t over = w.size();
  w.put({0x48, 0x03, 0x01, 0xff, 0x51, 0x10});  // add (%rcx),%rax; call *16(%rcx)
  w.set(over - 1, w.size() - over);
  w.put({0x59});
  if (s.keeps_flags) w.put({0x9d});
  w.put({0x58, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00});  // pop %rax; lea 128(%rsp),%rsp
  put_update(w, s, at);
  w.put({jump});
  w.put_distance(at + s.length);
  return w.get();
}

std::optional<encoded> encode_spin_stub(const sites::site& s, std::uint64_t at, std::uint64_t stub,
                                        std::int32_t count_at, void (*spun)()) {
  writer w(stub);
  put_update(w, s, at);
  w.put({0x48, 0x8d, 0x64, 0x24, 0x80});  // lea -128(%rsp),%rsp
  w.put({0x9c, 0x64, 0xff, 0x0c, 0x25});  // pushfq; decl %fs:count_at
  w.put_word(count_at);
  w.put({0x79, 0x00});  // jns over the call
  const std::size_t over = w.size();
  w.put({0xff, 0x15});                              // call *(what follows the jump)
  constexpr std::size_t rest = 1 + 8 + jump_bytes;  // popfq, lea, jmp
  w.put_word(static_cast<std::int32_t>(rest));
  w.set(over - 1, w.size() - over);
  w.put({0x9d, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00, jump});  // popfq; lea 128(%rsp),%rsp
  w.put_distance(at + s.length);
  w.put_word(reinterpret_cast<std::uint64_t>(spun));
  return w.get();
}

std::vector<std::uint8_t> encode_jump(const sites::site& s, std::uint64_t at, std::uint64_t stub, unsigned prefixes) {
  std::vector<std::uint8_t> bytes(prefixes, no_segment);
  bytes.push_back(jump);
  const auto distance = static_cast<std::uint32_t>(stub - (at + prefixes + jump_bytes));
  for (unsigned i = 0; i < distance_bytes; ++i) bytes.push_back(static_cast<std::uint8_t>(distance >> 8 * i));
  bytes.resize(s.length, breakpoint);
  return bytes;
}

}  // namespace quire::program::watch
