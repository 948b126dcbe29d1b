// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "races/checker.hpp"
#include "races/events.hpp"
#include "races/lines.hpp"

namespace quire::races::races_test {
namespace {

using bytes = base::fault_vector<std::byte>;

std::array<std::byte, 4096> page_of(std::initializer_list<std::pair<std::size_t, int>> values) {
  std::array<std::byte, 4096> page{};
  for (const auto& [at, value] : values) page[at] = static_cast<std::byte>(value);
  return page;
}

/// One node's record, written as a transcript.
struct node_file {
  explicit node_file(std::uint64_t node, std::uint64_t nodes = 2) { out.head({node, nodes}); }
  node_file& writes(std::initializer_list<std::pair<std::size_t, int>> before,
                    std::initializer_list<std::pair<std::size_t, int>> after, std::uint64_t address = 0x10000) {
    const auto was = page_of(before), is = page_of(after);
    out.written(1, compare(address, is, was.data()));
    return *this;
  }
  node_file& releases() { return ++released, out.released(), *this; }
  node_file& tells(std::uint64_t interval, std::uint64_t releases) { return out.interval(interval, releases), *this; }
  node_file& ends(std::uint64_t interval) { return releases().tells(interval, released); }
  node_file& hears(std::uint64_t node, std::uint64_t interval) {
    const std::pair<std::uint64_t, std::uint64_t> known[] = {{node, interval}};
    return out.acquired(known), *this;
  }
  node_file& may_have_written(std::uint64_t address = 0x10000) {
    return out.unseen(1, address / line_bytes, 4096 / line_bytes), *this;
  }
  node_file& at(std::uint64_t line) { return out.add_site({7, {line}}), *this; }
  bytes all{};
  writer out{all};
  std::uint64_t released = 0;
};

findings check(std::vector<node_file*> files, std::size_t piece = 1 << 20) {
  checker c(files.size());
  std::vector<std::size_t> next(files.size());
  for (node_file* f : files) f->out.end();
  for (auto n = c.wants(); n < files.size(); n = c.wants()) {
    const auto rest = std::span<const std::byte>(files[n]->all).subspan(next[n]);
    if (rest.empty()) {
      c.end_of(n);
      continue;
    }
    const auto some = rest.first(std::min(piece, rest.size()));
    next[n] += some.size();
    EXPECT_TRUE(c.feed(n, some));
  }
  return c.found();
}

TEST(races, bytes_that_differ_are_told_by_line_at_any_address) {
  for (const std::uint64_t address : {0x1000u, 0x1008u, 0x103eu, 0x1001u}) {
    for (std::size_t at = 0; at < 200; ++at) {
      std::array<std::byte, 201> was{}, is{};
      is[at] = std::byte{5};
      const write_set w = compare(address, is, was.data());
      const std::uint64_t byte = address + at;
      EXPECT_NE(w.before, w.after);
      for (std::uint64_t line = 0; line < w.lines; ++line)
        EXPECT_EQ(w.bytes[line], w.first_line + line == byte / 64 ? std::uint64_t{1} << byte % 64 : 0) << address << at;
    }
  }
  EXPECT_FALSE(compare(0x1000, page_of({{1, 2}}), page_of({{1, 2}}).data()).any());
}

/// What a sweep writes takes few bytes of the file, and is read back as what it was.
TEST(races, lines_that_are_written_alike_are_one_line_of_the_record) {
  const auto before = page_of({});
  for (const bool alike : {true, false}) {
    auto now = before;
    for (std::size_t at = 0; at < now.size(); at += 16) now[at] = std::byte{7};
    if (!alike) now[8] = std::byte{7};
    const write_set w = compare(0x20000, now, before.data());
    bytes all;
    writer out(all);
    out.head({0, 1});
    out.written(3, w);
    out.written(3, w);
    EXPECT_EQ(all.size() < 120, alike) << all.size();
    for (const std::size_t piece : {std::size_t{1}, all.size()}) {
      reader in;
      file_head h;
      event e;
      std::size_t fed = 0, found = 0;
      for (bool begun = false; fed < all.size();) {
        in.feed(std::span<const std::byte>(all).subspan(fed, std::min(piece, all.size() - fed)));
        fed += piece;
        if (!begun && in.head(h) != reader::found::event) continue;
        begun = true;
        while (in.next(e) == reader::found::event) {
          EXPECT_EQ(e.kind, event_kind::written);
          EXPECT_EQ(e.number, 3u);
          EXPECT_EQ(e.written.first_line, w.first_line);
          EXPECT_EQ(e.written.bytes, w.bytes);
          EXPECT_EQ(e.written.before, w.before);
          EXPECT_EQ(e.written.after, w.after);
          ++found;
        }
      }
      EXPECT_EQ(found, 2u) << piece;
    }
  }
}

/// Whatever the machine has, nodes of one job compare their hashes.
TEST(races, all_variants_compare_alike) {
  std::array<std::byte, 4096> is{}, was{};
  for (std::size_t i = 0; i < is.size(); ++i) is[i] = was[i] = static_cast<std::byte>(i * 37 + i / 251);
  for (const std::size_t at : {0u, 63u, 64u, 1000u, 4095u}) is[at] ^= std::byte{0x41};
  for (const std::size_t lines : {0u, 1u, 7u, 64u}) {
    std::array<std::uint64_t, 64> wanted{};
    line_lanes wanted_is{1, 2, 3, 4, 5, 6, 7, 8}, wanted_was = wanted_is;
    compare_lines(line_variant::portable, is.data(), was.data(), lines, wanted.data(), wanted_is, wanted_was);
    EXPECT_EQ(wanted[0], lines == 0 ? 0 : (std::uint64_t{1} << 63 | 1));
    EXPECT_EQ(wanted_is == wanted_was, lines == 0);
    for (const auto v : {line_variant::avx2, line_variant::avx512}) {
      if (!has(v)) continue;
      std::array<std::uint64_t, 64> masks{};
      line_lanes lanes_is{1, 2, 3, 4, 5, 6, 7, 8}, lanes_was = lanes_is;
      compare_lines(v, is.data(), was.data(), lines, masks.data(), lanes_is, lanes_was);
      EXPECT_EQ(masks, wanted);
      EXPECT_EQ(lanes_is, wanted_is);
      EXPECT_EQ(lanes_was, wanted_was);
    }
  }
}

/// One node had a page for itself, and nobody knows where it wrote: a write of another one without order is told so;
/// one in order is not.
TEST(races, what_nobody_saw_is_told_where_it_matters) {
  for (const bool heard : {false, true}) {
    node_file owner(0), guest(1);
    owner.at(0x11).may_have_written().ends(1);
    guest.at(0x22);
    if (heard) guest.hears(0, 1);
    guest.writes({}, {{5, 1}}).ends(1);
    const findings f = check({&owner, &guest});
    EXPECT_EQ(f.unseen, heard ? 0u : 1u);
    EXPECT_TRUE(f.races.empty() && f.broken.empty());
  }
}

/// More writes than are kept are not forgotten in silence.
TEST(races, forgotten_writes_are_counted) {
  node_file writer_of_many(0), other(1);
  writer_of_many.at(0x11);
  other.at(0x22);
  const std::uint64_t many = checker::most_writes_of_a_page + 3;
  for (std::uint64_t i = 1; i <= many; ++i)
    writer_of_many.writes({{5, static_cast<int>(i)}}, {{5, static_cast<int>(i) + 1}}).ends(i);
  EXPECT_EQ(check({&writer_of_many, &other}).forgotten, 3u);
}

/// Content that differs has another hash: by one bit anywhere, by two highest bits, and where two words change places.
TEST(races, the_hash_of_content_sees_small_changes) {
  std::array<std::uint64_t, 512> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * 0x9e37'79b9;
  const auto hash = [&] {
    const auto all = std::as_bytes(std::span(words));
    const write_set w = compare(0x30000, all, all.data());
    EXPECT_EQ(w.before, w.after);
    EXPECT_FALSE(w.any());
    return w.after;
  };
  std::set<std::uint64_t> seen{hash()};
  std::size_t tried = 1;
  const auto note = [&] { seen.insert(hash()), ++tried; };
  for (std::size_t i = 0; i < words.size(); i += 7) {
    for (const unsigned bit : {0u, 31u, 63u}) {
      words[i] ^= std::uint64_t{1} << bit;
      note();
      if (bit == 63 && i + 8 < words.size()) {
        words[i + 4] ^= std::uint64_t{1} << bit;
        note();
        words[i + 4] ^= std::uint64_t{1} << bit;
      }
      words[i] ^= std::uint64_t{1} << bit;
    }
    if (i + 4 >= words.size()) continue;
    std::swap(words[i], words[i + 4]);
    note();
    std::swap(words[i], words[i + 4]);
  }
  EXPECT_EQ(seen.size(), tried);
}

TEST(races, two_nodes_that_have_not_heard_of_each_other_and_write_the_same_byte) {
  for (const std::size_t piece : {1u, 7u, 100'000u}) {
    node_file a(0), b(1);
    a.at(0xa).writes({}, {{100, 1}, {101, 1}}).ends(1);
    b.at(0xb).writes({}, {{101, 2}, {102, 2}}).ends(1).hears(0, 1);
    const findings f = check({&a, &b}, piece);
    ASSERT_EQ(f.races.size(), 1u);
    EXPECT_EQ(f.races[0].address, 0x10000u + 101);
    EXPECT_EQ(f.races[0].bytes, 1u);
    EXPECT_EQ(f.races[0].first.at.from[0], 0xau);
    EXPECT_EQ(f.races[0].second.at.from[0], 0xbu);
    EXPECT_TRUE(f.broken.empty() && f.cut.empty());
  }
}

TEST(races, none_of_other_bytes_of_a_word_nor_after_the_other_was_heard_of) {
  node_file a(0), b(1);
  a.writes({}, {{100, 1}}).ends(1);
  b.writes({}, {{101, 2}}).ends(1).hears(0, 1).writes({{100, 1}, {101, 2}}, {{100, 3}, {101, 2}}).ends(2);
  a.hears(1, 2).writes({{100, 3}, {101, 2}}, {{100, 9}, {101, 9}}).ends(2);
  const findings f = check({&a, &b});
  EXPECT_TRUE(f.races.empty() && f.broken.empty());
  EXPECT_EQ(f.intervals, 4u);
}

TEST(races, an_order_by_way_of_a_third_node_is_one) {
  node_file a(0, 3), b(1, 3), c(2, 3);
  a.writes({}, {{5, 1}}).ends(1);
  b.hears(0, 1).ends(1);
  const std::pair<std::uint64_t, std::uint64_t> known[] = {{0, 1}, {1, 1}};
  c.out.acquired(known);
  c.writes({{5, 1}}, {{5, 2}}).ends(1);
  EXPECT_TRUE(check({&a, &b, &c}).races.empty());
  node_file x(0, 3), y(1, 3), z(2, 3);
  x.writes({}, {{5, 1}}).ends(1);
  y.hears(0, 1).ends(1);
  z.hears(1, 1).writes({}, {{5, 2}}).ends(1);  // it has not heard of the first
  EXPECT_EQ(check({&x, &y, &z}).races.size(), 1u);
}

TEST(races, a_release_that_is_not_told_yet_belongs_to_a_later_interval) {
  node_file a(0), b(1);
  a.writes({}, {{5, 1}}).releases().writes({{5, 1}}, {{5, 1}, {6, 1}}).releases().tells(1, 1).tells(2, 0).tells(3, 2);
  b.hears(0, 2).writes({{5, 1}}, {{5, 1}, {6, 2}}).ends(1);
  const findings f = check({&a, &b});
  EXPECT_EQ(f.races.size(), 1u);
  EXPECT_EQ(f.intervals, 3u);
}

TEST(races, content_that_lacks_what_was_heard_of_is_a_broken_promise) {
  const auto with = [](int found) {
    node_file a(0), b(1);
    a.writes({}, {{5, 1}}).ends(1);
    b.hears(0, 1).writes({{5, found}}, {{5, 2}}).ends(1);
    a.hears(1, 1);
    return check({&a, &b});
  };
  EXPECT_TRUE(with(1).broken.empty());
  EXPECT_EQ(with(1).continued, 1u);
  ASSERT_EQ(with(0).broken.size(), 1u);
  EXPECT_EQ(with(0).broken[0].writer.node, 0u);
  EXPECT_EQ(with(0).broken[0].reader.node, 1u);
}

TEST(races, nothing_is_promised_where_a_third_has_written_beside_it) {
  node_file a(0, 3), b(1, 3), c(2, 3);
  a.writes({}, {{5, 1}}).ends(1);
  c.writes({}, {{50, 1}}).ends(1);  // its diff is in what node 1 begins with, which has not heard of it
  b.hears(0, 1).writes({{5, 1}, {50, 1}}, {{5, 2}, {50, 1}}).ends(1);
  EXPECT_TRUE(check({&a, &b, &c}).broken.empty());
}

TEST(races, what_is_no_record_is_refused_and_what_is_cut_off_said) {
  checker c(2);
  const std::array<std::byte, 20> junk{};
  EXPECT_FALSE(c.feed(0, junk));
  node_file a(0), b(1);
  a.writes({}, {{5, 1}}).ends(1);
  checker d(2);
  EXPECT_TRUE(d.feed(0, a.all));
  EXPECT_TRUE(d.feed(1, std::span<const std::byte>(b.all)));
  d.end_of(0);
  d.end_of(1);
  EXPECT_EQ(d.wants(), 2u);
  EXPECT_EQ(d.found().cut.size(), 2u);
}

}  // namespace
}  // namespace quire::races::races_test
