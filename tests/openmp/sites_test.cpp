// SPDX-License-Identifier: BSD-3-Clause
// What `--memory auto` finds in code, on instructions as assemblers write them, and on files that are damaged.
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "program/sites/look.hpp"

namespace quire::program::sites {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (const int v : values) all.push_back(static_cast<std::byte>(v));
  return all;
}

class Sites : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    by_ = decoder::open(why);
    if (by_ == nullptr) GTEST_SKIP() << why;
  }
  [[nodiscard]] instruction one(std::initializer_list<int> code) const {
    const auto bytes = bytes_of(code);
    instruction i;
    EXPECT_TRUE(by_->decode(bytes, 0x1000, i));
    EXPECT_EQ(i.length, bytes.size());
    return i;
  }
  [[nodiscard]] site site_in(std::initializer_list<int> code) const {
    const instruction i = one(code);
    EXPECT_TRUE(i.is_site);
    return i.what;
  }
  const decoder* by_ = nullptr;
};

TEST_F(Sites, UpdatesOfMemory) {
  const site add = site_in({0xf0, 0x83, 0x00, 0x01});  // lock addl $1,(%rax)
  EXPECT_EQ(add.kind, site_kind::update);
  EXPECT_EQ(add.modrm_at, 2);
  EXPECT_FALSE(add.harmless || add.keeps_flags || add.relative || add.has_displacement);
  const site exchange = site_in({0x87, 0x02});  // xchg %eax,(%rdx)
  EXPECT_EQ(exchange.kind, site_kind::update);
  EXPECT_TRUE(exchange.keeps_flags);
  const site compare = site_in({0xf0, 0x48, 0x0f, 0xb1, 0x0a});  // lock cmpxchg %rcx,(%rdx)
  EXPECT_EQ(compare.rex, 0x48);
  EXPECT_FALSE(compare.keeps_flags);
  EXPECT_TRUE(site_in({0xf0, 0xff, 0x00}).keeps_flags) << "lock incl (%rax) leaves the carry";
}

TEST_F(Sites, OperandsRelativeToTheInstruction) {
  const site s = site_in({0xf0, 0x0f, 0xc1, 0x05, 0x10, 0x20, 0x00, 0x00});  // lock xadd %eax,0x2010(%rip)
  EXPECT_TRUE(s.relative && s.has_displacement && s.movable);
  EXPECT_EQ(s.displacement_at, 4);
}

TEST_F(Sites, FencesAndLoopsThatWait) {
  EXPECT_EQ(site_in({0x0f, 0xae, 0xf0}).kind, site_kind::fence);                          // mfence
  EXPECT_EQ(site_in({0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00}).kind, site_kind::fence);        // lock orq $0,(%rsp)
  EXPECT_EQ(site_in({0xf0, 0x83, 0x4c, 0x24, 0xc0, 0x00}).kind, site_kind::fence);        // lock orl $0,-64(%rsp)
  EXPECT_EQ(site_in({0xf3, 0x90}).kind, site_kind::spin);                                 // pause
  EXPECT_EQ(site_in({0xc7, 0xf8, 0x00, 0x00, 0x00, 0x00}).kind, site_kind::transaction);  // xbegin
}

TEST_F(Sites, BytesThatMayFence) {
  const auto in = [](std::initializer_list<int> values) { return next_fence(bytes_of(values), 0); };
  EXPECT_EQ(in({0x90, 0x0f, 0xae, 0xf0}), 3u);
  EXPECT_EQ(in({0x90, 0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00}), 1u);
  EXPECT_EQ(in({0xf0, 0x83, 0x4c, 0x24, 0xc0, 0x00}), 0u);
  EXPECT_EQ(in({0xf0, 0x83, 0x00, 0x01, 0x0f, 0xae, 0xe8, 0xf0, 0x48, 0x0f, 0xb1, 0x0a}), 12u) << "none";
  EXPECT_EQ(next_fence({}, 0), 0u);
  std::mt19937 r(2);
  constexpr int likely[] = {0x66, 0x64, 0x48, 0x80, 0x81, 0x83, 0x0c, 0x04, 0x24, 0x00, 0x0f, 0xae, 0xf0};
  unsigned fences = 0;
  for (unsigned n = 0; n < 500'000; ++n) {
    std::vector<std::byte> code(15);
    for (std::byte& b : code) b = static_cast<std::byte>(r() % 8 != 0 ? likely[r() % std::size(likely)] : r() & 255);
    instruction i;
    if (!by_->decode(code, 0x1000, i) || !i.is_site || i.what.kind != site_kind::fence) continue;
    const bool locked = std::find(code.begin(), code.begin() + i.length, std::byte{0xf0}) != code.begin() + i.length;
    if (!locked) continue;  // mfence has eight forms, of which assemblers write f0
    ++fences;
    ASSERT_LT(next_fence(code, 0), i.length) << n;
  }
  EXPECT_GT(fences, 100u);
}

TEST_F(Sites, FencesByFunctionsAreThoseOfTheWholeFile) {
  const auto fences_in = [this](std::span<const std::byte> file, wanted what) {
    std::vector<std::uint64_t> found;
    const code c = read_code(*by_, file, what);
    EXPECT_EQ(c.trouble, "");
    for (const site& s : c.found)
      if (is_in_loops(s)) found.push_back(s.movable ? s.address : s.address + (std::uint64_t{1} << 63));
    return found;
  };
  std::size_t all = 0;
  for (const auto* m = _r_debug.r_map; m != nullptr; m = m->l_next) {
    const file_bytes file(m == _r_debug.r_map ? "/proc/self/exe" : m->l_name);
    if (file.get().empty() || read_code(*by_, file.get()).trouble != "") continue;
    const auto whole = fences_in(file.get(), wanted::all);
    EXPECT_EQ(fences_in(file.get(), wanted::fences), whole) << m->l_name;
    all += whole.size();
  }
  EXPECT_GT(all, 0u);
}

TEST_F(Sites, WhatGoesToTheStackOrToAThreadIsHarmless) {
  EXPECT_TRUE(site_in({0xf0, 0xff, 0x44, 0x24, 0x08}).harmless);  // lock incl 8(%rsp)
  EXPECT_EQ(site_in({0xf0, 0xff, 0x44, 0x24, 0x08}).kind, site_kind::update);
  EXPECT_TRUE(site_in({0xf0, 0x64, 0xff, 0x00}).harmless);   // lock incl %fs:(%rax)
  EXPECT_FALSE(site_in({0xf0, 0xff, 0x45, 0xf8}).harmless);  // lock incl -8(%rbp), which may be any register
}

TEST_F(Sites, AddressesOf32BitsAreNotMoved) { EXPECT_FALSE(site_in({0xf0, 0x67, 0xff, 0x00}).movable); }

TEST_F(Sites, OtherInstructionsAreNone) {
  EXPECT_FALSE(one({0x87, 0xc2}).is_site);              // xchg %eax,%edx
  EXPECT_FALSE(one({0x90}).is_site);                    // nop
  EXPECT_FALSE(one({0x0f, 0xb1, 0x0a}).is_site);        // cmpxchg without lock
  EXPECT_FALSE(one({0x0f, 0xae, 0xf8}).is_site);        // sfence
  EXPECT_FALSE(one({0xf3, 0x0f, 0x1e, 0xfa}).is_site);  // endbr64
}

TEST_F(Sites, ASectionIsReadToItsEndOrToWhatIsNoInstruction) {
  sections read;
  std::uint64_t bad = 0;
  EXPECT_TRUE(read_section(*by_, bytes_of({0x90, 0xf0, 0xff, 0x00, 0xc3}), 0x400, read, bad));
  ASSERT_EQ(read.found.size(), 1u);
  EXPECT_EQ(read.found[0].address, 0x401u);
  EXPECT_FALSE(read_section(*by_, bytes_of({0x90, 0x06}), 0x400, read, bad)) << "push %es is of 32 bits";
  EXPECT_EQ(bad, 0x401u);
  EXPECT_FALSE(read_section(*by_, bytes_of({0xf0, 0x83, 0x00}), 0x400, read, bad)) << "cut off";
  EXPECT_FALSE(read_section(*by_, bytes_of({0xf0, 0x90}), 0x400, read, bad)) << "lock without memory";
}

file_code with(std::vector<site> found) {
  file_code f{"the program", {}, {}};
  f.what.found = std::move(found);
  return f;
}

TEST_F(Sites, TheVerdict) {
  const site update = site_in({0xf0, 0xff, 0x00}), fence = site_in({0x0f, 0xae, 0xf0}),
             harmless = site_in({0xf0, 0xff, 0x44, 0x24, 0x08});
  const auto decided = [](const file_code& f, bool watches) { return decide(std::span(&f, 1), watches); };
  EXPECT_TRUE(decided(with({}), false).mixed);
  EXPECT_EQ(decided(with({}), false).why, "the program has no atomic operations, fences or flushes");
  EXPECT_TRUE(decided(with({harmless}), false).mixed);
  EXPECT_FALSE(decided(with({update}), false).mixed);
  EXPECT_TRUE(decided(with({update}), true).mixed);
  EXPECT_EQ(decided(with({update, update}), true).watched, 2u);
  EXPECT_FALSE(decided(with({update, fence}), true).mixed);
  EXPECT_EQ(decided(with({fence, fence}), true).why, "the program has 2 fences, the first (mfence) at 0x1000");
  EXPECT_EQ(decided(with({fence}), true).why, "the program has a fence (mfence) at 0x1000");
  EXPECT_EQ(decided(with({update, harmless}), false).why,
            "the program has an atomic operation (lock or xchg) at 0x1000");
  file_code calls = with({});
  calls.what.fencing = {"__kmpc_flush"};
  EXPECT_EQ(decided(calls, true).why, "the program calls __kmpc_flush");
  calls.what.fencing.clear();
  calls.what.updating = {"__atomic_load_16"};
  EXPECT_FALSE(decided(calls, true).mixed);
  calls.what.updating.clear();
  calls.what.trouble = "is cut off";
  EXPECT_EQ(decided(calls, true).why, "the program is cut off");
}

TEST_F(Sites, OwnProgramIsReadWholly) {
  const file_code own = look_at(*by_, "/proc/self/exe", "the program");
  EXPECT_EQ(own.what.trouble, "");
}

TEST_F(Sites, NoFileHarms) {
  for (const char* path : {"/nowhere", "/dev/null", "/proc/self", "/etc/passwd"})
    EXPECT_NE(look_at(*by_, path, "x").what.trouble, "");
}

TEST_F(Sites, CodeThatCanBeWrittenAndFilesWithoutSections) {
  const file_bytes own("/proc/self/exe");
  std::vector<std::byte> copy(own.get().begin(), own.get().end());
  auto* const head = reinterpret_cast<Elf64_Ehdr*>(copy.data());
  const auto sections = std::exchange(head->e_shnum, Elf64_Half{0});
  EXPECT_EQ(read_code(*by_, copy).trouble, "has no table of sections");
  head->e_shnum = sections;
  auto* const segments = reinterpret_cast<Elf64_Phdr*>(copy.data() + head->e_phoff);
  for (int i = 0; i < head->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) segments[i].p_flags |= PF_W;
  }
  EXPECT_EQ(read_code(*by_, copy).trouble, "has code that it can write");
}

/// Bytes of a real file that are changed or missing lead nowhere outside of it; sanitizers look on.
TEST_F(Sites, DamagedFilesAreReadSafely) {
  const file_bytes own("/bin/true");
  if (own.get().empty()) GTEST_SKIP();
  std::mt19937 random(1);
  for (int turn = 0; turn < 400; ++turn) {
    std::vector<std::byte> copy(own.get().begin(), own.get().end());
    if (turn % 4 == 0) copy.resize(random() % copy.size());
    const std::size_t tables = turn % 2 == 0 ? 64 : copy.size();
    for (int i = 0; i < 12 && !copy.empty(); ++i)
      copy[random() % std::min<std::size_t>(tables, copy.size())] = static_cast<std::byte>(random());
    const code c = read_code(*by_, copy);
    for (const site& s : c.found) EXPECT_LE(s.length, site::most_bytes);
    (void)function_at(copy, random());
  }
}

}  // namespace
}  // namespace quire::program::sites
