// SPDX-License-Identifier: BSD-3-Clause
// Updates that look first: they are executed as they were, with all registers and flags, whichever way the jump to
// their stub was made.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "program/sites/decoder.hpp"
#include "program/sites/verdict.hpp"
#include "program/process/fail.hpp"
#include "program/process/watch/demotion.hpp"
#include "program/process/watch/patch.hpp"
#include "program/process/watch/ranges.hpp"
#include "program/process/watch/stub.hpp"

namespace quire::program {

void fail(const char*, quire_status) noexcept { std::abort(); }

namespace watch {

std::vector<std::uint64_t> g_demoted;
unsigned g_spins = 0;
/// In the place of demotion.cpp: uses vector registers as it may.
extern "C" void quire_own_demote(std::uint64_t address) noexcept {
  __asm__ volatile("pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm7, %%xmm7" ::: "xmm0", "xmm7");
  g_demoted.push_back(address);
}
/// In the place of libquire's.
extern "C" quire_status quire_spin() {
  __asm__ volatile("pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm7, %%xmm7" ::: "xmm0", "xmm7");
  ++g_spins;
  return QUIRE_OK;
}

namespace {

constexpr std::size_t page = 4096;

/// Code that was assembled by hand, between breakpoints, loaded at `at` or anywhere.
class loaded {
 public:
  loaded(std::initializer_list<int> code, std::uint64_t at = 0) : loaded(std::vector<int>(code), at) {}
  explicit loaded(const std::vector<int>& code, std::uint64_t at = 0) {
    void* const where = ::mmap(reinterpret_cast<void*>(at), 2 * page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | (at != 0 ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    EXPECT_NE(where, MAP_FAILED);
    bytes_ = static_cast<std::uint8_t*>(where);
    std::memset(bytes_, 0xcc, page);
    for (const int b : code) bytes_[size_++] = static_cast<std::uint8_t>(b);
    std::memcpy(bytes_ + page, "\0\0\0\0\0\0\0\0", 8);
  }
  loaded(const loaded&) = delete;
  loaded& operator=(const loaded&) = delete;
  ~loaded() { ::munmap(bytes_, 2 * page); }

  /// All its updates. Data follow the page of code.
  [[nodiscard]] bool watch(std::string& why) {
    watched_code m{"the program", base(), base(), base() + page, {}, {}};
    const auto* const by = sites::decoder::open(why);
    for (std::size_t at = 0; at < size_;) {
      sites::instruction i;
      if (!by->decode(std::as_bytes(std::span(bytes_ + at, size_ - at)), at, i)) return why = "no instruction", false;
      if (i.is_site) (sites::is_watched(i.what) ? m.updates : m.spins).push_back(i.what);
      at += i.length;
    }
    EXPECT_FALSE(m.updates.empty() && m.spins.empty());
    const bool done = watch_updates(std::span(&m, 1), why);
    ::mprotect(bytes_, page, PROT_READ | PROT_EXEC);
    return done;
  }
  [[nodiscard]] std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(bytes_); }
  [[nodiscard]] std::uint8_t* bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t* data() const { return reinterpret_cast<std::uint64_t*>(bytes_ + page); }
  template <class... A>
  std::uint64_t call(A... a) const {
    return reinterpret_cast<std::uint64_t (*)(A...)>(bytes_)(a...);
  }

 private:
  std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
};

class Watch : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (sites::decoder::open(why) == nullptr) GTEST_SKIP() << why;
    g_demoted.clear();
    g_spins = 0;
  }
};

void watch(loaded& code) {
  std::string why;
  ASSERT_TRUE(code.watch(why)) << why;
}

TEST_F(Watch, AnUpdateOfFiveBytesAndMore) {
  loaded f({0x48, 0x89, 0xf0, 0xf0, 0x48, 0x0f, 0xc1, 0x07, 0xc3});  // mov %rsi,%rax; lock xadd %rax,(%rdi); ret
  watch(f);
  EXPECT_EQ(f.bytes()[3], 0xe9);
  std::uint64_t word = 40;
  EXPECT_EQ(f.call(&word, std::uint64_t{2}), 40u);
  EXPECT_EQ(word, 42u);
}

TEST_F(Watch, ShortUpdatesKeepWhatFollows) {
  loaded f({0x89, 0xf0, 0xf0, 0x0f, 0xc1, 0x07, 0x01, 0xf0,
            0xc3});  // mov %esi,%eax; lock xadd %eax,(%rdi); add %esi,%eax; ret
  watch(f);
  EXPECT_EQ(std::memcmp(f.bytes() + 6, "\x01\xf0\xc3", 3), 0);
  std::uint32_t word = 40;
  EXPECT_EQ(f.call(&word, 2) & 0xffffffff, 42u);
  EXPECT_EQ(word, 42u);
}

TEST_F(Watch, VeryShortUpdates) {
  loaded add({0xf0, 0xff, 0x07, 0x48, 0x31, 0xc0, 0xc3});  // lock incl (%rdi); xor %rax,%rax; ret
  watch(add);
  std::uint32_t word = 41;
  EXPECT_EQ(add.call(&word), 0u);
  EXPECT_EQ(word, 42u);
  loaded exchange(
      {0x89, 0xf0, 0x87, 0x07, 0x48, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3});  // mov %esi,%eax; xchg %eax,(%rdi); nop; ret
  std::string why;
  if (!exchange.watch(why)) GTEST_SKIP() << why;  // its jump leads to one of 256 addresses
  EXPECT_EQ(exchange.call(&word, 7), 42u);
  EXPECT_EQ(word, 7u);
}

/// The jump's first byte may not lead to negative addresses: prefixes move it on.
TEST_F(Watch, BelowFourGigabytes) {
  loaded f({0x89, 0xf0, 0xf0, 0x0f, 0xc1, 0x07, 0xc3, 0x0f, 0x1f, 0x44, 0x00, 0x00}, 0x7000000);  // ...; ret; nop
  watch(f);
  std::uint32_t word = 40;
  EXPECT_EQ(f.call(&word, 2), 40u);
  EXPECT_EQ(word, 42u);
}

TEST_F(Watch, UpdatesSideBySide) {
  loaded f({0xf0, 0xff, 0x07, 0xf0, 0xff, 0x07, 0xf0, 0x83, 0x07, 0x01, 0xf0, 0xff, 0x07, 0x48, 0x31, 0xc0,
            0xc3});  // lock incl; lock incl; lock addl $1; lock incl
  std::string why;
  if (!f.watch(why)) GTEST_SKIP() << why;
  std::uint32_t word = 0;
  f.call(&word);
  EXPECT_EQ(word, 4u);
}

TEST_F(Watch, OperandsOfAllForms) {
  std::uint64_t words[40] = {};
  loaded indexed(
      {0xf0, 0x48, 0x83, 0x84, 0xf7, 0x40, 0x00, 0x00, 0x00, 0x05, 0xc3});  // lock addq $5,64(%rdi,%rsi,8); ret
  watch(indexed);
  indexed.call(words, std::uint64_t{3});
  EXPECT_EQ(words[11], 5u);
  loaded extended({0x49, 0x89, 0xf8, 0x49, 0x89, 0xf1, 0xf0, 0x4b, 0x83, 0x44, 0xc8, 0x08, 0x06,
                   0xc3});  // r8, r9; lock addq $6,8(%r8,%r9,8); ret
  watch(extended);
  extended.call(words, std::uint64_t{1});
  EXPECT_EQ(words[2], 6u);
  loaded by_rax({0x48, 0x89, 0xf8, 0x48, 0x89, 0xf1, 0xf0, 0x48, 0x0f, 0xb1, 0x08,
                 0xc3});  // rax = rdi, rcx = rsi; lock cmpxchg %rcx,(%rax); ret
  watch(by_rax);
  words[0] = reinterpret_cast<std::uint64_t>(words);
  by_rax.call(words, std::uint64_t{9});
  EXPECT_EQ(words[0], 9u);
}

TEST_F(Watch, OperandsRelativeToTheInstruction) {
  // lock addl $3,DATA(%rip): at 0, 8 bytes; the data are at 4096
  loaded f({0xf0, 0x83, 0x05, 0xf8, 0x0f, 0x00, 0x00, 0x03, 0xc3});
  watch(f);
  f.call();
  f.call();
  EXPECT_EQ(*f.data(), 6u);
}

TEST_F(Watch, FlagsAndTheRedZoneStay) {
  // movq $77,-8(%rsp); stc; lock adcq $0,(%rdi); mov -8(%rsp),%rax; adc $0,%rax; ret
  loaded f({0x48, 0xc7, 0x44, 0x24, 0xf8, 0x4d, 0x00, 0x00, 0x00, 0xf9, 0xf0, 0x48, 0x83,
            0x17, 0x00, 0x48, 0x8b, 0x44, 0x24, 0xf8, 0x48, 0x83, 0xd0, 0x00, 0xc3});
  watch(f);
  std::uint64_t word = 41;
  EXPECT_EQ(f.call(&word), 77u);
  EXPECT_EQ(word, 42u);
  // stc; lock incl (%rdi) leaves the carry; sbb %rax,%rax; ret
  loaded carry({0xf9, 0xf0, 0xff, 0x07, 0x48, 0x19, 0xc0, 0xc3});
  watch(carry);
  EXPECT_EQ(carry.call(&word), ~std::uint64_t{0});
}

TEST_F(Watch, AnUpdateOfALargeObjectAsksFirstAndKeepsAllRegisters) {
  static std::uint64_t large[1000];
  note_release_region({7}, reinterpret_cast<std::uint64_t>(large), sizeof large);
  // movq %rsi,%xmm0; movq %rsi,%xmm7; mov $5,%r11d; lock incq (%rdi); movq %xmm0,%rax; movq %xmm7,%rcx; and %rcx,%rax;
  // add %r11,%rax; ret
  loaded f({0x66, 0x48, 0x0f, 0x6e, 0xc6, 0x66, 0x48, 0x0f, 0x6e, 0xfe, 0x41, 0xbb, 0x05,
            0x00, 0x00, 0x00, 0xf0, 0x48, 0xff, 0x07, 0x66, 0x48, 0x0f, 0x7e, 0xc0, 0x66,
            0x48, 0x0f, 0x7e, 0xf9, 0x48, 0x21, 0xc8, 0x4c, 0x01, 0xd8, 0xc3});
  watch(f);
  EXPECT_EQ(f.call(large + 3, std::uint64_t{1000}), 1005u);
  ASSERT_EQ(g_demoted.size(), 1u);
  EXPECT_EQ(g_demoted[0], reinterpret_cast<std::uint64_t>(large + 3));
  EXPECT_EQ(large[3], 1u);
  std::uint64_t small = 0;
  f.call(&small, std::uint64_t{1});
  EXPECT_EQ(g_demoted.size(), 1u);
  set_common_heap(reinterpret_cast<std::uint64_t>(&small), sizeof small);
  f.call(&small, std::uint64_t{1});
  EXPECT_EQ(small, 2u);
  note_sequential({7});
  f.call(large + 3, std::uint64_t{1});
  EXPECT_EQ(g_demoted.size(), 1u);
  EXPECT_EQ(large[3], 2u);
}

/// movq %rsi,%xmm0; movq %rsi,%xmm7; mov %rsi,%r11; FENCE; dec %rdi; jne to the fence; movq %xmm0,%rax; movq
/// %xmm7,%rcx; and %rcx,%rax; add %r11,%rax; ret
void expect_spins(std::initializer_list<int> fence) {
  std::vector<int> code{0x66, 0x48, 0x0f, 0x6e, 0xc6, 0x66, 0x48, 0x0f, 0x6e, 0xfe, 0x49, 0x89, 0xf3};
  code.insert(code.end(), fence);
  const int back = -static_cast<int>(fence.size()) - 5;
  for (const int b : {0x48, 0xff, 0xcf, 0x75, back & 0xff, 0x66, 0x48, 0x0f, 0x7e, 0xc0, 0x66,
                      0x48, 0x0f, 0x7e, 0xf9, 0x48,        0x21, 0xc8, 0x4c, 0x01, 0xd8, 0xc3})
    code.push_back(b);
  loaded f(code);
  watch(f);
  EXPECT_EQ(f.call(std::uint64_t{10'000}, std::uint64_t{20}), 40u);
  EXPECT_GT(g_spins, 100u);
}

TEST_F(Watch, ALoopOfFencesSpinsAndKeepsAllRegisters) {
  expect_spins({0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00});  // lock orq $0,(%rsp)
  expect_spins({0x0f, 0xae, 0xf0});                    // mfence
}

/// stc; mfence leaves the carry, through all calls; dec leaves it, too
TEST_F(Watch, AFenceKeepsFlags) {
  // mov $1000,%ecx; stc; mfence; dec %ecx; jne to the fence; sbb %rax,%rax; ret
  loaded f({0xb9, 0xe8, 0x03, 0x00, 0x00, 0xf9, 0x0f, 0xae, 0xf0, 0xff, 0xc9, 0x75, 0xf9, 0x48, 0x19, 0xc0, 0xc3});
  watch(f);
  EXPECT_EQ(f.call(), ~std::uint64_t{0});
  EXPECT_GT(g_spins, 10u);
}

TEST_F(Watch, AFenceNowAndThenIsNoWait) {
  loaded f({0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00, 0xc3});
  watch(f);
  for (int i = 0; i < 100; ++i) {
    f.call();
    ::usleep(20);
  }
  EXPECT_EQ(g_spins, 0u);
}

TEST_F(Watch, AllOrNone) {
  loaded f({0xf0, 0x48, 0x83, 0x07, 0x01, 0xf0, 0x67, 0x48, 0x83, 0x07, 0x01,
            0xc3});  // the second has an address of 32 bits
  const std::vector<std::uint8_t> before(f.bytes(), f.bytes() + 12);
  std::string why;
  EXPECT_FALSE(f.watch(why));
  EXPECT_EQ(why, "the program has an atomic operation at 0x5 that cannot be watched");
  EXPECT_EQ(std::vector<std::uint8_t>(f.bytes(), f.bytes() + 12), before);
}

TEST_F(Watch, PlacesOfShortJumps) {
  sites::site s;
  s.length = 4;
  const std::uint8_t following[] = {0x12, 0x34, 0x56, 0x78};
  const auto all = places_for(s, 0x100000000, std::span<const std::uint8_t, most_following>(following));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].first, 0x100000005u + 0x12000000);
  EXPECT_EQ(all[0].bytes, 1u << 24);
  EXPECT_EQ(all[1].first, 0x100000006u + 0x34120000);
  EXPECT_EQ(all[3].first, 0x100000008u + 0x78563412);
  EXPECT_EQ(all[3].bytes, 1u);
  EXPECT_EQ(encode_jump(s, 0x100000000, all[1].first + 0x4321, 1), (std::vector<std::uint8_t>{0x26, 0xe9, 0x21, 0x43}));
}

}  // namespace
}  // namespace watch
}  // namespace quire::program
