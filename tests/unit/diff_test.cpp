// SPDX-License-Identifier: BSD-3-Clause
// src/diff: every variant that the machine has, against a byte-wise reference: what a diff says, how large it is, that
// nothing else is written, and that nothing but a diff is let in.
#include "diff/diff.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace quire::diff::diff_test {
namespace {

using bytes = std::vector<std::byte>;
constexpr std::size_t page = 4096;

/// Memory between two pages that nobody may touch; what is given out ends, or begins, at one of them.
class guarded {
 public:
  explicit guarded(std::size_t most) : inner_((most + page - 1) / page * page) {
    all_ = static_cast<std::byte*>(::mmap(nullptr, inner_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (all_ == MAP_FAILED || ::mprotect(all_ + page, inner_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  ~guarded() { ::munmap(all_, inner_ + 2 * page); }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  [[nodiscard]] std::span<std::byte> at_end(std::size_t size) const { return {all_ + page + inner_ - size, size}; }
  [[nodiscard]] std::span<std::byte> at_begin(std::size_t size) const { return {all_ + page, size}; }
  [[nodiscard]] std::span<std::byte> at_end(const bytes& content) const {
    std::copy(content.begin(), content.end(), at_end(content.size()).begin());
    return at_end(content.size());
  }

 private:
  std::size_t inner_;
  std::byte* all_;
};

bytes copy_of(std::span<const std::byte> from) { return {from.begin(), from.end()}; }

bytes random_bytes(std::size_t size, std::mt19937_64& random) {
  bytes made(size);
  for (std::byte& b : made) b = static_cast<std::byte>(random());
  return made;
}

void change(std::byte& b, std::mt19937_64& random) { b ^= static_cast<std::byte>(1 + random() % 255); }

/// What a diff must do to `home`.
bytes applied(const bytes& unit, const bytes& twin, bytes home) {
  for (std::size_t i = 0; i < unit.size(); ++i)
    if (unit[i] != twin[i]) home[i] = unit[i];
  return home;
}

/// A twin of which stretches were changed: most often few and short, or few bytes left alone, sometimes words.
bytes scribbled(const bytes& twin, std::mt19937_64& random) {
  bytes unit = twin;
  const std::size_t size = twin.size();
  const auto kind = random() % 5;
  for (auto stretches = random() % 12; stretches > 0; --stretches) {
    const std::size_t longest = kind == 0 ? 3 : kind == 1 ? 200 : size, from = random() % size;
    for (std::size_t i = from; i < std::min(size, from + 1 + random() % longest); ++i) change(unit[i], random);
  }
  if (kind == 3)
    for (std::size_t i = 0; i < size; ++i)
      if (random() % 4 == 0) change(unit[i], random);
  if (kind == 4)  // doubles that keep sign and exponent
    for (std::size_t i = 0; i < size; ++i)
      if (i % 8 < 6) change(unit[i], random);
  return unit;
}

constexpr std::size_t sizes[] = {1,   2,   7,   8,    9,    32,   63,   64,   65,   100,
                                 127, 128, 192, 1000, 4095, 4096, 4097, 4160, 8192, 9999};

class diff_codec : public testing::TestWithParam<variant> {
 protected:
  /// Encodes into a buffer that ends at a guard page.
  bytes encode(const bytes& unit, const bytes& twin, writers who = writers::several) {
    const auto out = buffer_.at_end(worst_bytes(unit.size()));
    result_ = codec_.encode(unit_.at_end(unit), twin_.at_end(twin).data(), out, who);
    return copy_of(out.first(result_.bytes));
  }

  /// Encodes and applies to an unlike home, both ways round; compares with the reference.
  void expect_exact(const bytes& unit, const bytes& twin) {
    const bytes encoded = encode(unit, twin);
    const bool all = std::equal(unit.begin(), unit.end(), twin.begin(), std::not_equal_to<>());
    ASSERT_EQ(result_.what, unit == twin ? outcome::unchanged : all ? outcome::whole : outcome::diff);
    ASSERT_EQ(result_.bytes == 0, result_.what != outcome::diff);
    if (result_.what != outcome::diff) return;
    ASSERT_LE(encoded.size(), worst_bytes(unit.size()));
    bytes before(unit.size());
    for (std::size_t i = 0; i < before.size(); ++i) before[i] = ~unit[i];
    const bytes after = applied(unit, twin, before);
    for (const bool end : {true, false}) {
      const auto home = end ? home_.at_end(unit.size()) : home_.at_begin(unit.size());
      std::copy(before.begin(), before.end(), home.begin());
      ASSERT_TRUE(codec_.apply(buffer_.at_end(encoded), home));
      ASSERT_TRUE(std::equal(after.begin(), after.end(), home.begin()));
    }
    const bytes by_portable = encode_by(codec(variant::portable), unit, twin);
    ASSERT_EQ(encoded, by_portable);
  }

  static bytes encode_by(const codec& c, const bytes& unit, const bytes& twin) {
    bytes out(worst_bytes(unit.size()));
    out.resize(c.encode(unit, twin.data(), out, writers::several).bytes);
    return out;
  }

  const codec codec_{GetParam()};
  const guarded unit_{max_unit_bytes}, twin_{max_unit_bytes}, home_{max_unit_bytes};
  const guarded buffer_{worst_bytes(max_unit_bytes)};
  encoded result_;
  std::mt19937_64 random_{2024};
};

std::vector<variant> variants_here() {
  std::vector<variant> here;
  std::copy_if(std::begin(all_variants), std::end(all_variants), std::back_inserter(here), available);
  return here;
}
INSTANTIATE_TEST_SUITE_P(variants, diff_codec, testing::ValuesIn(variants_here()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(diff, the_best_variant_is_chosen) {
  EXPECT_TRUE(available(variant::portable));
  EXPECT_EQ(codec().which(), variants_here().back());
}

TEST(diff, format_is_fixed) {
  bytes twin(200), unit(twin);
  unit[64 + 9] = std::byte{5};                                      // line 1, word 1, byte 1
  std::fill(unit.begin() + 128, unit.begin() + 192, std::byte{7});  // line 2
  const auto byte = [](unsigned value) { return static_cast<std::byte>(value); };
  bytes expected{byte(1), byte(0), byte(0), byte(0),   byte(0), byte(2), byte(0), byte(0), byte(0), byte(0), byte(0),
                 byte(0), byte(0), byte(5), byte(0),   byte(0), byte(0), byte(0), byte(0), byte(0),  // 1 masked line
                 byte(2), byte(0), byte(0), byte(0xc0)};  // 1 full line, the last
  expected.insert(expected.end(), 64, byte(7));
  bytes out(worst_bytes(unit.size()));
  out.resize(codec().encode(unit, twin.data(), out, writers::several).bytes);
  EXPECT_EQ(out, expected);
}

TEST_P(diff_codec, nothing_and_everything) {
  for (const std::size_t size : sizes) {
    const bytes twin = random_bytes(size, random_);
    bytes unit = twin;
    expect_exact(unit, twin);
    for (std::byte& b : unit) change(b, random_);
    expect_exact(unit, twin);
    EXPECT_EQ(codec_.encode(unit, twin.data(), {}, writers::several).what, outcome::whole);
  }
}

TEST_P(diff_codec, one_byte_at_every_offset) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, page, page + 1}) {
    const bytes twin = random_bytes(size, random_);
    bytes unit = twin;
    EXPECT_FALSE(codec_.differs(unit, twin.data()));
    for (std::size_t i = 0; i < size; ++i) {
      change(unit[i], random_);
      ASSERT_NO_FATAL_FAILURE(expect_exact(unit, twin)) << i;
      ASSERT_TRUE(codec_.differs(unit, twin.data())) << i;
      ASSERT_TRUE(size == 1 || result_.bytes == 20u) << result_.bytes;
      unit[i] = twin[i];
    }
  }
}

TEST_P(diff_codec, all_but_one_byte_at_every_offset) {
  for (const std::size_t size : {std::size_t{100}, page, page + 1}) {
    const bytes twin = random_bytes(size, random_);
    bytes unit = twin;
    for (std::byte& b : unit) change(b, random_);
    for (std::size_t i = 0; i < size; ++i) {
      const std::byte changed = std::exchange(unit[i], twin[i]);
      ASSERT_NO_FATAL_FAILURE(expect_exact(unit, twin)) << i;
      unit[i] = changed;
    }
  }
}

TEST_P(diff_codec, one_stretch_from_anywhere_to_anywhere) {
  const bytes twin = random_bytes(200, random_);
  for (std::size_t from = 0; from < twin.size(); ++from) {
    bytes unit = twin;
    for (std::size_t to = from; to < twin.size(); ++to) {
      change(unit[to], random_);
      ASSERT_NO_FATAL_FAILURE(expect_exact(unit, twin)) << from << " to " << to;
    }
  }
}

TEST_P(diff_codec, every_pattern_of_small_units) {
  for (std::size_t size = 1; size <= 10; ++size)
    for (unsigned pattern = 0; pattern < 1u << size; ++pattern) {
      const bytes twin(size);
      bytes unit(size);
      for (std::size_t i = 0; i < size; ++i) unit[i] = static_cast<std::byte>(pattern >> i & 1);
      ASSERT_NO_FATAL_FAILURE(expect_exact(unit, twin)) << size << ", " << pattern;
    }
}

/// All sets of 16 bytes: within a line, across the border of two lines, and at a ragged end.
TEST_P(diff_codec, every_pattern_of_two_words) {
  for (const auto& [size, from] : {std::pair<std::size_t, std::size_t>{128, 16}, {128, 56}, {83, 67}}) {
    const bytes twin(size);
    for (unsigned pattern = 0; pattern < 1u << 16; ++pattern) {
      bytes unit(size);
      for (std::size_t i = 0; i < 16; ++i) unit[from + i] = static_cast<std::byte>((pattern >> i & 1) * (i + 1));
      ASSERT_NO_FATAL_FAILURE(expect_exact(unit, twin)) << pattern;
    }
  }
}

/// Lines of which all words change, all of their bytes or not.
TEST_P(diff_codec, every_pattern_of_bytes_in_words_that_all_change) {
  const bytes twin = random_bytes(192, random_);
  for (unsigned pattern = 1; pattern < 1u << 16; ++pattern) {
    if ((pattern & 0xff) == 0 || pattern >> 8 == 0) continue;
    bytes unit = twin;
    for (std::size_t i = 64; i < 128; ++i)
      if (i % 8 == pattern % 8 || (pattern >> (i + i / 16) % 16 & 1) != 0) change(unit[i], random_);
    ASSERT_NO_FATAL_FAILURE(expect_exact(unit, twin)) << pattern;
  }
}

TEST_P(diff_codec, random_patterns_of_all_sizes) {
  for (const std::size_t size : sizes)
    for (int round = 0; round < 200; ++round) {
      const bytes twin = random_bytes(size, random_);
      ASSERT_NO_FATAL_FAILURE(expect_exact(scribbled(twin, random_), twin)) << size << ", " << round;
    }
}

TEST_P(diff_codec, large_units) {
  for (const std::size_t size : {max_unit_bytes, max_unit_bytes - 1, std::size_t{1} << 20}) {
    const bytes twin = random_bytes(size, random_);
    for (int round = 0; round < 6; ++round)
      ASSERT_NO_FATAL_FAILURE(expect_exact(scribbled(twin, random_), twin)) << size << ", " << round;
    bytes unit = twin;
    for (std::byte& b : unit) change(b, random_);
    expect_exact(unit, twin);
    unit.back() = twin.back();
    expect_exact(unit, twin);
  }
}

TEST_P(diff_codec, the_worst_case_is_reached_and_never_passed) {
  EXPECT_EQ(worst_bytes(page), 4612u);
  EXPECT_EQ(worst_bytes(max_unit_bytes), 2361344u);
  for (const std::size_t size : {std::size_t{64}, page, 2 * page, max_unit_bytes}) {
    const bytes twin(size);
    bytes unit(size, std::byte{1});
    for (std::size_t i = 0; i < size; i += 64) unit[i + random_() % 64] = std::byte{0};
    expect_exact(unit, twin);
    EXPECT_EQ(result_.bytes, worst_bytes(size));
  }
}

TEST_P(diff_codec, room_is_kept_to_the_byte) {
  for (int round = 0; round < 40; ++round) {
    const bytes twin = random_bytes(500, random_), unit = scribbled(twin, random_);
    encode(unit, twin);
    const encoded wanted = result_;
    if (wanted.what != outcome::diff) continue;
    for (std::size_t room = 0; room <= wanted.bytes; ++room) {
      const auto out = buffer_.at_end(room);
      const encoded several = codec_.encode(unit, twin.data(), out, writers::several);
      ASSERT_EQ(several.what, room < wanted.bytes ? outcome::no_room : outcome::diff) << room;
      const encoded one = codec_.encode(unit, twin.data(), out, writers::one);
      ASSERT_EQ(one.what, room < wanted.bytes || wanted.bytes > unit.size() ? outcome::whole : outcome::diff) << room;
    }
  }
}

TEST_P(diff_codec, whole_is_chosen_by_size_only_for_a_single_writer) {
  const bytes twin(page);
  bytes unit(page, std::byte{1});
  for (std::size_t i = 0; i < page; i += 64) unit[i] = std::byte{0};
  encode(unit, twin, writers::one);
  EXPECT_EQ(result_.what, outcome::whole);
  encode(unit, twin, writers::several);
  EXPECT_EQ(result_.what, outcome::diff);
  std::fill(unit.begin(), unit.begin() + page / 2, std::byte{0});
  encode(unit, twin, writers::one);
  EXPECT_EQ(result_.what, outcome::diff);
}

/// Two nodes write bytes that they do not share, the home writes others: nothing is lost, in either order.
TEST_P(diff_codec, diffs_of_disjoint_writers_make_the_union) {
  for (const std::size_t size : {std::size_t{70}, page})
    for (int round = 0; round < 300; ++round) {
      const bytes twin = random_bytes(size, random_);
      bytes a = twin, b = twin, home = twin, all = twin;
      const auto grain = std::size_t{1} << random_() % 7;  // bytes that go to one writer
      auto who = random_() % 4;
      for (std::size_t i = 0; i < size; ++i) {
        if (i % grain == 0) who = random_() % 4;
        if (who == 3) continue;
        change(all[i], random_);
        (who == 0 ? a : who == 1 ? b : home)[i] = all[i];
      }
      for (const bool a_first : {true, false}) {
        bytes merged = home;
        for (const bytes* unit : {a_first ? &a : &b, a_first ? &b : &a}) {
          const bytes encoded = encode(*unit, twin);
          if (result_.what == outcome::whole)
            merged = *unit;
          else
            ASSERT_TRUE(result_.what == outcome::unchanged || codec_.apply(encoded, merged));
        }
        ASSERT_EQ(merged, all);
      }
    }
}

/// Bytes that a diff does not name are not even written with what they held: another thread may be writing them.
TEST_P(diff_codec, apply_leaves_the_bytes_of_a_running_writer_alone) {
  bytes twin(page), unit(page);
  for (std::size_t i = 0; i < page; ++i) unit[i] = static_cast<std::byte>(i * 7 % 3 != 0);
  const bytes encoded = encode_by(codec_, unit, twin);
  bytes home(page);
  std::atomic<bool> stop = false;
  std::size_t lost = 0;
  std::thread writer([&] {
    for (unsigned round = 1; !stop; ++round) {
      for (std::size_t i = 0; i < page; i += 3)
        std::atomic_ref(home[i]).store(static_cast<std::byte>(round), std::memory_order_relaxed);
      for (std::size_t i = 0; i < page; i += 3)
        lost += std::atomic_ref(home[i]).load(std::memory_order_relaxed) != static_cast<std::byte>(round);
    }
  });
  bool good = true;
  for (int i = 0; i < 20000; ++i) good &= codec_.apply(encoded, home, beside::writers);
  stop = true;
  writer.join();
  EXPECT_TRUE(good);
  EXPECT_EQ(lost, 0u);
}

/// The bits that say which bytes of a word changed, and the bytes, are of one moment: a number that goes on from 0x1ff
/// to 0x205 between the comparison and the packing must not arrive as 0x105.
void expect_counting_up(const codec& by, std::size_t every) {
  alignas(64) std::uint64_t unit[page / 8] = {}, twin[page / 8] = {}, home[page / 8] = {}, seen[page / 8] = {};
  std::byte diff[worst_bytes(page)];
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (std::uint64_t n = 1; !stop; ++n)
      for (std::size_t i = 0; i < page / 8; i += every)
        std::atomic_ref(unit[i]).store(n * 0x1'0103, std::memory_order_relaxed);
  });
  bool good = true;
  std::size_t back = 0;
  for (int round = 0; round < 50000 && good && back == 0; ++round) {
    const encoded done =
        by.encode(std::as_bytes(std::span(unit)), reinterpret_cast<const std::byte*>(twin), diff, writers::several);
    if (done.what == outcome::unchanged) continue;
    const auto made = std::span<const std::byte>(diff).first(done.bytes);
    good = done.what == outcome::diff && by.apply(made, std::as_writable_bytes(std::span(home))) &&
           by.apply(made, std::as_writable_bytes(std::span(twin)));
    for (std::size_t i = 0; i < page / 8; ++i) {
      back += home[i] < seen[i] || home[i] % 0x1'0103 != 0;
      seen[i] = home[i];
    }
  }
  stop = true;
  writer.join();
  EXPECT_TRUE(good);
  EXPECT_EQ(back, 0u);
}

TEST_P(diff_codec, words_that_are_counted_up_meanwhile_never_go_back) {
  expect_counting_up(codec_, 3);
  expect_counting_up(codec_, 1);  // lines of which all words change
}

/// Whoever reads a word while a diff is applied sees it as it was before or as it is then, whichever of its bytes
/// change.
/// `words_behind`: the home begins so many words behind a line of the cache, as that of a small unit may.
void expect_whole_words(const codec& by, std::size_t words_behind, beside threads) {
  alignas(64) std::uint64_t zeros[8] = {}, marked[8], memory[16] = {};
  const auto home = std::span(memory).subspan(words_behind).first<8>();
  std::byte up[worst_bytes(sizeof zeros)], down[sizeof up];
  constexpr std::uint64_t patterns[8] = {
      0xff, 0xffff00, 0xff00ff, 0xffffff, 0xffffffffff, 0xffff'ffff'ffff, 0xff'ffff'ffff'ffff, 0xff00'0000'0000'00ff};
  std::copy(std::begin(patterns), std::end(patterns), marked);
  const auto as_bytes = [](const std::uint64_t* words) { return reinterpret_cast<const std::byte*>(words); };
  const encoded rise = by.encode(std::as_bytes(std::span(marked)), as_bytes(zeros), up, writers::several);
  const encoded fall = by.encode(std::as_bytes(std::span(zeros)), as_bytes(marked), down, writers::several);
  std::atomic<bool> stop = false;
  std::size_t mixed = 0;
  std::thread reader([&] {
    while (!stop) {
      for (std::size_t i = 0; i < 8; ++i) {
        const std::uint64_t found = std::atomic_ref(home[i]).load(std::memory_order_relaxed);
        mixed += found != 0 && found != patterns[i];
      }
    }
  });
  bool good = true;
  for (int i = 0; i < 100'000; ++i) {
    good &= by.apply(std::span<const std::byte>(up).first(rise.bytes), std::as_writable_bytes(home), threads);
    good &= by.apply(std::span<const std::byte>(down).first(fall.bytes), std::as_writable_bytes(home), threads);
  }
  stop = true;
  reader.join();
  EXPECT_TRUE(good);
  EXPECT_EQ(mixed, 0u);
}

TEST_P(diff_codec, words_are_never_seen_in_parts) {
  for (const std::size_t words_behind : {0, 2, 6})
    for (const beside threads : {beside::none, beside::writers}) expect_whole_words(codec_, words_behind, threads);
}

/// A unit that is written while it is encoded: every diff is valid, and home and twin end at the unit.
TEST_P(diff_codec, encode_of_a_unit_that_is_being_written) {
  const auto unit = unit_.at_end(page), twin = twin_.at_end(page), home = home_.at_end(page);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (std::mt19937_64 random{7}; !stop;)
      for (std::size_t i = random() % page, end = std::min(page, i + random() % 256); i < end; ++i)
        std::atomic_ref(unit[i]).store(static_cast<std::byte>(random()), std::memory_order_relaxed);
  });
  const auto send = [&] {
    const auto out = buffer_.at_end(worst_bytes(page));
    const encoded done = codec_.encode(unit, twin.data(), out, writers::several);
    if (done.what == outcome::unchanged) return true;
    return done.what == outcome::diff && codec_.apply(out.first(done.bytes), home) &&
           codec_.apply(out.first(done.bytes), twin);
  };
  bool good = true;
  for (int i = 0; i < 50000; ++i) good &= send();
  stop = true;
  writer.join();
  EXPECT_TRUE(good && send());
  EXPECT_TRUE(std::ranges::equal(unit, home));
  EXPECT_TRUE(std::ranges::equal(unit, twin));
}

TEST_P(diff_codec, whatever_is_cut_off_or_added_is_refused) {
  for (int round = 0; round < 100; ++round) {
    const bytes twin = random_bytes(300, random_), unit = scribbled(twin, random_);
    bytes encoded = encode(unit, twin);
    for (std::size_t size = 0; size < encoded.size(); ++size) {
      bytes home = twin;
      ASSERT_FALSE(
          codec_.apply(buffer_.at_end(bytes(encoded.begin(), encoded.begin() + static_cast<long>(size))), home));
      ASSERT_EQ(home, twin);
    }
    encoded.push_back(std::byte{0});
    bytes home = twin;
    ASSERT_FALSE(codec_.apply(encoded, home));
  }
}

TEST_P(diff_codec, a_diff_of_a_larger_unit_is_refused) {
  for (const std::size_t size : sizes) {
    const bytes twin(size + 1);
    bytes unit = twin;
    unit.back() = std::byte{1};
    const bytes encoded = encode(unit, twin);
    if (result_.what != outcome::diff) continue;
    EXPECT_FALSE(codec_.apply(encoded, home_.at_end(size)));
  }
}

TEST_P(diff_codec, runs_out_of_order_or_without_a_change_are_refused) {
  const auto refused = [&](std::initializer_list<std::uint32_t> words) {
    bytes made(words.size() * 4);
    std::ranges::copy(std::as_bytes(std::span(std::data(words), words.size())), made.begin());
    return !codec_.apply(buffer_.at_end(made), home_.at_end(page));
  };
  constexpr std::uint32_t last = 1u << 31, full = 1u << 30;
  EXPECT_FALSE(refused({1, 1, 0, 9, 9, 2 | last, 1, 0, 9, 9}));
  EXPECT_TRUE(refused({2, 1, 0, 9, 9, 1 | last, 1, 0, 9, 9}));  // backwards
  EXPECT_TRUE(refused({1, 1, 0, 9, 9, 1 | last, 1, 0, 9, 9}));  // twice
  EXPECT_TRUE(refused({1, 1, 0, 9, 9, 2, 1, 0, 9, 9}));         // no last run
  EXPECT_TRUE(refused({1 | last, 1, 0, 9, 9, 2 | last, 1, 0, 9, 9}));
  EXPECT_TRUE(refused({1 | last, 0, 0}));             // a mask without a byte
  EXPECT_TRUE(refused({64 | last, 1, 0, 9, 9}));      // beyond the end
  EXPECT_TRUE(refused({0x7fff | last, 1, 0, 9, 9}));  // far beyond
  EXPECT_TRUE(refused({0x7fffu << 15 | last | full, 9, 9}));
  EXPECT_TRUE(refused({0x7fffu << 15 | last, 1, 0, 9, 9}));
  EXPECT_TRUE(refused({~0u}));
  EXPECT_TRUE(refused({last}));
  EXPECT_TRUE(refused({}));
}

/// Bytes from anywhere: either a diff, or refused with nothing written; never a byte outside, which would end the test.
TEST_P(diff_codec, mutated_diffs_write_nothing_outside) {
  std::size_t taken = 0, refused = 0;
  for (int round = 0; round < 60000; ++round) {
    const std::size_t size = sizes[random_() % std::size(sizes)];
    const bytes twin = random_bytes(size, random_);
    bytes torn = encode(scribbled(twin, random_), twin);
    if (torn.empty()) torn.resize(random_() % 100);
    for (auto count = 1 + random_() % 4; count > 0 && !torn.empty(); --count) {
      const std::size_t at =
          random_() % 2 == 0 ? random_() % std::min<std::size_t>(torn.size(), 16) : random_() % torn.size();
      switch (random_() % 5) {
        case 0:
          torn[at] ^= static_cast<std::byte>(1u << random_() % 8);
          break;
        case 1:
          torn[at] = static_cast<std::byte>(random_());
          break;
        case 2:
          torn.resize(at);
          break;
        case 3:
          torn.insert(torn.begin() + static_cast<long>(at), random_() % 20, std::byte{0xff});
          break;
        case 4:
          torn.erase(torn.begin(), torn.begin() + static_cast<long>(at));
          break;
      }
    }
    torn.resize(std::min(torn.size(), worst_bytes(max_unit_bytes)));
    const auto home = round % 2 == 0 ? home_.at_end(size) : home_.at_begin(size);
    std::copy(twin.begin(), twin.end(), home.begin());
    if (codec_.apply(buffer_.at_end(torn), home)) {
      ++taken;
    } else {
      ++refused;
      ASSERT_TRUE(std::ranges::equal(home, twin)) << round;
    }
  }
  EXPECT_GT(taken, 100u);
  EXPECT_GT(refused, 1000u);
}

TEST_P(diff_codec, merge_by_exclusive_or_gathers_the_copies) {
  for (const std::size_t size : sizes)
    for (int round = 0; round < 20; ++round) {
      const bytes base = random_bytes(size, random_);
      std::vector<bytes> copies(4, base);
      bytes all = base;
      for (std::size_t i = 0; i < size; ++i)
        if (const auto who = random_() % 6; who < copies.size()) {
          change(all[i], random_);
          copies[who][i] = all[i];
        }
      const auto out = home_.at_end(base), original = twin_.at_end(base);
      for (const bytes& copy : copies) {
        const auto replica = unit_.at_end(copy);
        ASSERT_EQ(codec_.first_overlap(out, replica.data(), original.data()), size);
        codec_.merge(out, replica.data(), original.data());
      }
      ASSERT_TRUE(std::ranges::equal(out, all)) << size;
    }
}

TEST_P(diff_codec, the_first_overlap_is_found) {
  for (const std::size_t size : sizes)
    for (int round = 0; round < 100; ++round) {
      const bytes base = random_bytes(size, random_), a = scribbled(base, random_), b = scribbled(base, random_);
      std::size_t expected = 0;
      while (expected < size && (a[expected] == base[expected] || b[expected] == base[expected])) ++expected;
      ASSERT_EQ(codec_.first_overlap(home_.at_end(a), unit_.at_end(b).data(), twin_.at_end(base).data()), expected);
    }
}

TEST_P(diff_codec, the_same_value_by_two_writers_is_an_overlap_too) {
  bytes base(page), a = base;
  a[4000] = std::byte{1};
  bytes out = base;
  codec_.merge(out, a.data(), base.data());
  EXPECT_EQ(codec_.first_overlap(out, a.data(), base.data()), 4000u);
}

}  // namespace
}  // namespace quire::diff::diff_test
