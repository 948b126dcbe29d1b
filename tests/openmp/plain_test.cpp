// SPDX-License-Identifier: BSD-3-Clause
// Plain instructions are what the decoder says: of random bytes, and of all code of real files.
#include <gtest/gtest.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <random>
#include <span>
#include <string>

#include "program/sites/decoder.hpp"
#include "program/sites/elf_view.hpp"
#include "program/sites/look.hpp"
#include "program/sites/plain.hpp"

namespace quire::program::sites {
namespace {

constexpr std::uint64_t where = 0x10000;

class Plain : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    by_ = decoder::open(why);
    if (by_ == nullptr) GTEST_SKIP() << why;
  }
  /// The decoder says the same, if the tables say anything.
  void expect_same(std::span<const std::byte> code, const plain_instruction& p) const {
    instruction i;
    std::string text;
    for (const std::byte b : code.first(std::min<std::size_t>(code.size(), 15))) {
      constexpr char digits[] = "0123456789abcdef";
      text += {digits[static_cast<unsigned>(b) >> 4], digits[static_cast<unsigned>(b) & 15], ' '};
    }
    ASSERT_TRUE(by_->decode(code, where, i)) << text;
    ASSERT_EQ(p.length, i.length) << text;
    ASSERT_FALSE(i.is_site) << text;
    ASSERT_EQ(p.jumps, i.jumps) << text;
    ASSERT_EQ(p.jumps ? where + p.length + static_cast<std::uint64_t>(std::int64_t{p.offset}) : 0, i.target) << text;
  }
  const decoder* by_ = nullptr;
};

TEST_F(Plain, AnyBytes) {
  std::mt19937 r(1);
  const auto byte = [&r] { return static_cast<std::byte>(r() & 255); };
  constexpr std::array likely = {std::byte{0x66}, std::byte{0x48}, std::byte{0x0f}, std::byte{0xf3}, std::byte{0x41}};
  std::size_t told = 0;
  for (unsigned n = 0; n < 1'000'000; ++n) {
    std::array<std::byte, 18> code;
    std::size_t at = 0;
    while (at < 4 && r() % 2 == 0) code[at++] = likely[r() % likely.size()];
    while (at < code.size()) code[at++] = byte();
    const std::span<const std::byte> some = std::span(code).first(1 + r() % code.size());
    const plain_instruction p = read_plain(some);
    if (p.length == 0) continue;
    ++told;
    expect_same(some, p);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(told, 300'000u);
}

TEST_F(Plain, AllCodeOfThisProcess) {
  std::size_t all = 0, told = 0;
  const auto look = [&](const char* path) {
    const file_bytes file(path);
    const elf_view elf(file.get());
    for (const Elf64_Shdr& s : elf.sections()) {
      if (s.sh_type != SHT_PROGBITS || (s.sh_flags & SHF_EXECINSTR) == 0) continue;
      const auto code = elf.table<std::byte>(s.sh_offset, s.sh_size);
      for (std::size_t at = 0; at < code.size();) {
        instruction i;
        if (!by_->decode(code.subspan(at), where, i)) break;
        const plain_instruction p = read_plain(code.subspan(at));
        ++all;
        if (p.length != 0) {
          ++told;
          expect_same(code.subspan(at), p);
          if (HasFatalFailure()) return;
        }
        at += i.length;
      }
    }
  };
  look("/proc/self/exe");
  for (const auto* m = _r_debug.r_map; m != nullptr; m = m->l_next) {
    if (m->l_name[0] == '/') look(m->l_name);
  }
  EXPECT_GT(all, 100'000u);
  EXPECT_GT(told, all / 10 * 9) << all;
}

TEST(PlainTables, WhatMayBeASiteIsNeverPlain) {
  const auto length = [](std::initializer_list<int> code) {
    std::array<std::byte, 15> bytes{};
    std::size_t at = 0;
    for (const int b : code) bytes[at++] = static_cast<std::byte>(b);
    return int{read_plain(bytes).length};
  };
  EXPECT_EQ(length({0xf0, 0x83, 0x00, 0x01}), 0);  // lock addl $1,(%rax)
  EXPECT_EQ(length({0x87, 0x02}), 0);              // xchg %eax,(%rdx)
  EXPECT_EQ(length({0x0f, 0xae, 0xf0}), 0);        // mfence
  EXPECT_EQ(length({0xf3, 0x90}), 0);              // pause
  EXPECT_EQ(length({0xc7, 0xf8}), 0);              // xbegin
  EXPECT_EQ(length({0x48, 0x8b, 0x05}), 7);        // mov 0(%rip),%rax
  EXPECT_EQ(length({0x90}), 1);
}

}  // namespace
}  // namespace quire::program::sites
