// SPDX-License-Identifier: BSD-3-Clause
// The instructions of which most code is made, by tables: how long they are, and where they jump to. None of these is a
// site. All others are the decoder's business, which takes some fifty times as long: what is unusual, what the tables
// cannot tell for certain, and what may be a site (LOCK, xchg with memory, fences, pause, xbegin). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quire::program::sites {

struct plain_instruction {
  std::uint8_t length = 0;  ///< 0: it is none of them, or not all of it is there
  bool jumps = false;       ///< to `offset` from its end on, directly
  std::int32_t offset = 0;
};

namespace plain {

/// What follows an opcode.
enum form : std::uint8_t {
  other = 0,       ///< not told here
  known = 1,       ///< nothing, unless another bit says more
  modrm = 2,       ///< a description of operands
  byte = 4,        ///< a constant of 8 bits
  word = 8,        ///< one of 32 bits, or of 16 (0x66)
  jump = 16,       ///< the constant is the way of a jump
  any_prefix = 32  ///< 0xf2 and 0xf3 choose another instruction, of the same form
};

/// Opcodes of one byte.
constexpr std::array<std::uint8_t, 256> one_byte = [] {
  std::array<std::uint8_t, 256> t{};
  const auto fill = [&t](unsigned first, unsigned last, unsigned what) {
    for (unsigned i = first; i <= last; ++i) t[i] = static_cast<std::uint8_t>(what | known);
  };
  for (unsigned row = 0; row < 0x40; row += 8) {  // add, or, adc, sbb, and, sub, xor, cmp
    fill(row, row + 3, modrm);
    fill(row + 4, row + 4, byte);
    fill(row + 5, row + 5, word);
  }
  fill(0x50, 0x5f, 0);             // push, pop
  fill(0x63, 0x63, modrm);         // movsxd
  fill(0x69, 0x69, modrm | word);  // imul
  fill(0x6b, 0x6b, modrm | byte);
  fill(0x6a, 0x6a, byte);          // push
  fill(0x70, 0x7f, byte | jump);   // jcc
  fill(0x80, 0x80, modrm | byte);  // add ... cmp
  fill(0x81, 0x81, modrm | word);
  fill(0x83, 0x83, modrm | byte);
  fill(0x84, 0x85, modrm);  // test
  fill(0x88, 0x8b, modrm);  // mov
  fill(0x8d, 0x8d, modrm);  // lea
  fill(0x90, 0x99, 0);      // nop, xchg with rax, cbw, cwd and their kin
  fill(0xa8, 0xa8, byte);   // test
  fill(0xa9, 0xa9, word);
  fill(0xb0, 0xb7, byte);  // mov
  fill(0xb8, 0xbf, word);
  fill(0xc0, 0xc1, modrm | byte);  // shifts
  fill(0xc3, 0xc3, 0);             // ret
  fill(0xc6, 0xc6, modrm | byte);  // mov
  fill(0xc7, 0xc7, modrm | word);
  fill(0xc9, 0xc9, 0);            // leave
  fill(0xcc, 0xcc, 0);            // int3
  fill(0xd0, 0xd3, modrm);        // shifts
  fill(0xe8, 0xe9, word | jump);  // call, jmp
  fill(0xeb, 0xeb, byte | jump);
  fill(0xf6, 0xf7, modrm);  // test, not, neg, mul, div: those with a constant are left to the decoder
  fill(0xfe, 0xff, modrm);  // inc, dec, call, jmp, push
  return t;
}();

/// Opcodes behind 0x0f.
constexpr std::array<std::uint8_t, 256> two_bytes = [] {
  std::array<std::uint8_t, 256> t{};
  const auto fill = [&t](unsigned first, unsigned last, unsigned what) {
    for (unsigned i = first; i <= last; ++i) t[i] = static_cast<std::uint8_t>(what | known);
  };
  fill(0x10, 0x11, modrm | any_prefix);  // movups and its kin
  fill(0x1f, 0x1f, modrm);               // nop
  fill(0x28, 0x29, modrm);               // movaps
  fill(0x2e, 0x2f, modrm);               // comiss
  fill(0x40, 0x4f, modrm);               // cmovcc
  fill(0x51, 0x51, modrm | any_prefix);  // sqrt
  fill(0x54, 0x57, modrm);               // and, andn, or, xor
  fill(0x58, 0x5a, modrm | any_prefix);  // add, mul, cvt
  fill(0x5c, 0x5f, modrm | any_prefix);  // sub, min, div, max
  for (const auto [first, last] : {std::array{0x60u, 0x6bu},
                                   {0x6eu, 0x6fu},
                                   {0x74u, 0x76u},
                                   {0x7eu, 0x7fu},
                                   {0xd1u, 0xd5u},
                                   {0xd8u, 0xe5u},
                                   {0xe8u, 0xefu},
                                   {0xf1u, 0xf6u},
                                   {0xf8u, 0xfeu}})
    fill(first, last, modrm);      // integers in mm and xmm
  fill(0x80, 0x8f, word | jump);   // jcc
  fill(0x90, 0x9f, modrm);         // setcc
  fill(0xa3, 0xa3, modrm);         // bt
  fill(0xaf, 0xaf, modrm);         // imul
  fill(0xb6, 0xb7, modrm);         // movzx
  fill(0xbe, 0xbf, modrm);         // movsx
  fill(0xc6, 0xc6, modrm | byte);  // shufps
  fill(0xc8, 0xcf, 0);             // bswap
  return t;
}();

/// Bytes that the description of operands takes, with scale and displacement. `rest` begins with it; 0: cut off.
[[nodiscard]] constexpr unsigned operand_bytes(std::span<const std::byte> rest) noexcept {
  if (rest.size() < 2) return 0;
  const auto m = static_cast<unsigned>(rest[0]), mode = m >> 6, base = m & 7;
  if (mode == 3) return 1;
  const bool scaled = base == 4;
  const unsigned all = scaled ? 2 : 1;
  if (mode == 1) return all + 1;
  const bool bare = mode == 0 && (scaled ? (static_cast<unsigned>(rest[1]) & 7) == 5 : base == 5);
  return mode == 2 || bare ? all + 4 : all;
}

/// Whether the opcode means what its form says with these operands, for certain.
[[nodiscard]] constexpr bool takes(unsigned opcode, unsigned m) noexcept {
  const unsigned mode = m >> 6, number = m >> 3 & 7;
  switch (opcode) {
    case 0x8d:
      return mode != 3;
    case 0xc6:
    case 0xc7:
      return number == 0;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xc0:
    case 0xc1:
      return number != 6;
    case 0xf6:
    case 0xf7:
      return number >= 2;
    case 0xfe:
      return number <= 1;
    case 0xff:
      return number != 3 && number != 5 && number != 7;
    default:
      return true;
  }
}

struct prefixes {
  bool half = false;     ///< 0x66
  bool chooses = false;  ///< 0xf2 or 0xf3
  bool wide = false;     ///< REX.W
};

/// The constant of 8, 16 or 32 bits that ends an instruction; 64 bits of mov are left to the decoder.
[[nodiscard]] constexpr unsigned constant_bytes(unsigned form, const prefixes& p) noexcept {
  if ((form & byte) != 0) return 1;
  if ((form & word) == 0) return 0;
  return p.half && !p.wide ? 2 : 4;
}

}  // namespace plain

/// The instruction at the start of `code`.
[[nodiscard]] constexpr plain_instruction read_plain(std::span<const std::byte> code) noexcept {
  constexpr std::size_t most = 15;
  if (code.size() > most) code = code.first(most);
  const auto at = [&code](std::size_t i) { return i < code.size() ? static_cast<unsigned>(code[i]) : 0u; };
  plain::prefixes p;
  std::size_t next = 0;
  if (at(next) == 0x66) p.half = true, ++next;
  if (at(next) == 0xf2 || at(next) == 0xf3) p.chooses = true, ++next;
  const unsigned rex = at(next);
  if (rex >= 0x40 && rex <= 0x4f) p.wide = (rex & 8) != 0, ++next;
  const bool two = at(next) == 0x0f;
  if (two) ++next;
  const unsigned opcode = at(next++);
  const unsigned form = two ? plain::two_bytes[opcode] : plain::one_byte[opcode];
  if (form == plain::other || (p.chooses && (form & plain::any_prefix) == 0)) return {};
  if (p.chooses && p.half) return {};
  if ((form & plain::jump) != 0 && p.half) return {};
  if (!two && (opcode & 0xf8) == 0xb8 && p.wide) return {};
  if ((form & plain::modrm) != 0) {
    if (next >= code.size() || (!two && !plain::takes(opcode, at(next)))) return {};
    if (two && opcode == 0x1f && (at(next) >> 3 & 7) != 0) return {};
    const unsigned bytes = plain::operand_bytes(code.subspan(next));
    if (bytes == 0) return {};
    next += bytes;
  }
  const unsigned constant = plain::constant_bytes(form, p);
  next += constant;
  if (next > code.size()) return {};
  plain_instruction found{static_cast<std::uint8_t>(next), (form & plain::jump) != 0, 0};
  if (found.jumps) {
    std::uint32_t way = 0;
    for (unsigned i = 0; i < constant; ++i) way |= at(next - constant + i) << 8 * i;
    found.offset = constant == 1 ? static_cast<std::int8_t>(way) : static_cast<std::int32_t>(way);
  }
  return found;
}

}  // namespace quire::program::sites
