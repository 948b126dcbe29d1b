// SPDX-License-Identifier: BSD-3-Clause
// quire_diff: what a diff costs, per unit of 4 KiB: encode and apply by kind of change, merge of a parallel block,
// beside memcpy and memcmp of a unit. Hot: the same unit again and again. Cold: units in random order out of more than
// a cache holds. Unit and twin of a pair lie apart, as in the engine. One process, no Quire job.
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"
#include "diff/diff.hpp"

namespace {

using quire::diff::codec;
using quire::diff::encoded;
using quire::diff::outcome;
using quire::diff::writers;
constexpr std::size_t page = bench::page_bytes;
constexpr std::size_t most = quire::diff::worst_bytes(page);
constexpr std::size_t words = page / 8;
constexpr std::size_t batch = 64;  ///< units between two looks at the clock

struct settings {
  std::string variant = "best";
  std::uint64_t units = 32768;
  std::uint64_t rounds = 400;
};

/// How a unit differs from its twin.
struct pattern {
  std::string name;
  std::size_t words;     ///< that change
  std::size_t distance;  ///< from one to the next
  std::size_t bytes;     ///< that change in each
};

const pattern patterns[] = {
    {"0_words", 0, 1, 8},
    {"1_word", 1, 1, 8},
    {"8_words", 8, 64, 8},
    {"64_words", 64, 8, 8},
    {"64_words_in_a_row", 64, 1, 8},
    {"512_words", 512, 1, 6},  // doubles that keep their exponent
    {"whole", 512, 1, 8},
};

/// Begins at a page, as units do.
class pages {
 public:
  explicit pages(std::size_t bytes) : held_(bytes + page), bytes_(bytes) {
    void* at = held_.data();
    std::size_t room = held_.size();
    begin_ = static_cast<std::byte*>(std::align(page, bytes, at, room));
  }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  [[nodiscard]] std::span<std::byte> all() const noexcept { return {begin_, bytes_}; }
  [[nodiscard]] std::span<std::byte> at(std::size_t i, std::size_t bytes) const noexcept {
    return {begin_ + i * bytes, bytes};
  }

 private:
  std::vector<std::byte> held_;
  std::byte* begin_;
  std::size_t bytes_;
};

/// As many units as asked for, their twins, homes and diffs.
struct memory {
  explicit memory(std::size_t units)
      : count(units), unit(units * page), twin(units * page), home(units * page), diff(units * most) {
    std::mt19937_64 random(1);
    for (std::byte& b : twin.all()) b = static_cast<std::byte>(random());
  }

  void change(const pattern& p) {
    std::ranges::copy(twin.all(), unit.all().begin());
    std::ranges::copy(twin.all(), home.all().begin());
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t w = 0; w < p.words; ++w)
        for (std::byte& b : unit.at(i, page).subspan(w * p.distance % words * 8, p.bytes)) b ^= std::byte{0x5a};
  }

  [[nodiscard]] std::span<const std::byte> unit_at(std::size_t i) const { return unit.at(i, page); }
  [[nodiscard]] std::span<std::byte> home_at(std::size_t i) const { return home.at(i, page); }
  [[nodiscard]] const std::byte* twin_at(std::size_t i) const { return twin.at(i, page).data(); }
  [[nodiscard]] std::span<std::byte> diff_at(std::size_t i) const { return diff.at(i, most); }

  std::size_t count;
  pages unit, twin, home, diff;
};

/// Measures `work(unit number)`, in nanoseconds per unit.
template <class Work>
void measure(const std::string& name, const settings& wanted, const std::vector<std::size_t>& order, Work&& work) {
  bench::samples times(name, "ns");
  std::size_t next = 0;
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    const std::uint64_t start = bench::now_ns();
    for (std::size_t i = 0; i < batch; ++i) work(order[next++ % order.size()]);
    times.add(static_cast<double>(bench::now_ns() - start) / batch);
  }
  times.print();
}

void expect(bool good) {
  if (!good) throw std::runtime_error("a diff is not what it should be");
}

void measure_pattern(const settings& wanted, const codec& c, memory& m, const std::vector<std::size_t>& order,
                     const std::string& suffix, const pattern& p) {
  m.change(p);
  const outcome kind = p.words == 0 ? outcome::unchanged : p.name == "whole" ? outcome::whole : outcome::diff;
  std::vector<std::size_t> sizes(m.count);
  const auto encode = [&](std::size_t i) {
    const encoded done = c.encode(m.unit_at(i), m.twin_at(i), m.diff_at(i), writers::several);
    expect(done.what == kind);
    sizes[i] = done.bytes;
  };
  for (std::size_t i = 0; i < m.count; ++i) encode(i);
  measure("encode_" + p.name + suffix, wanted, order, encode);
  if (kind != outcome::diff) return;
  measure("apply_" + p.name + suffix, wanted, order,
          [&](std::size_t i) { expect(c.apply(m.diff_at(i).first(sizes[i]), m.home_at(i))); });
}

void measure_all(const settings& wanted, const codec& c, std::size_t units, const std::string& suffix) {
  memory m(units);
  const auto order = bench::random_order(units);
  m.change(patterns[0]);
  measure("memcpy" + suffix, wanted, order, [&](std::size_t i) {
    std::memcpy(m.home_at(i).data(), m.twin_at(i), page);
    asm volatile("" ::: "memory");
  });
  measure("memcmp" + suffix, wanted, order,
          [&](std::size_t i) { expect(std::memcmp(m.unit_at(i).data(), m.twin_at(i), page) == 0); });
  measure("differs" + suffix, wanted, order, [&](std::size_t i) { expect(!c.differs(m.unit_at(i), m.twin_at(i))); });
  for (const pattern& p : patterns) measure_pattern(wanted, c, m, order, suffix, p);
  m.change(patterns[3]);
  measure("merge_64_words" + suffix, wanted, order,
          [&](std::size_t i) { c.merge(m.home_at(i), m.unit_at(i).data(), m.twin_at(i)); });
  m.change(patterns[3]);
  measure("overlap_64_words" + suffix, wanted, order,
          [&](std::size_t i) { expect(c.first_overlap(m.home_at(i), m.unit_at(i).data(), m.twin_at(i)) == page); });
}

codec named(const std::string& wanted) {
  for (const auto v : quire::diff::all_variants) {
    if (wanted != quire::diff::name(v)) continue;
    if (!quire::diff::available(v)) throw std::runtime_error("this machine has no " + wanted);
    return codec(v);
  }
  return codec();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("What diffs cost, in ns per unit of 4 KiB, hot and cold.");
  here.add_choice("--variant", wanted.variant, {"best", "portable", "avx2", "avx512"}, "the code that does it");
  here.add_number("--units", wanted.units, 1, 1 << 20, "units of 4 KiB for the cold figures");
  here.add_number("--rounds", wanted.rounds, 1, 1 << 20, "times that 64 units are measured");
  return here.run(argc, argv, [&] {
    const codec c = named(wanted.variant);
    measure_all(wanted, c, 1, "");
    measure_all(wanted, c, wanted.units, "_cold");
  });
}
