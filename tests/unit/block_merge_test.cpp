// SPDX-License-Identifier: BSD-3-Clause
// The merge of a parallel block against a model that remembers for each byte who changed it.
#include "core/block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/minipages/minipages.hpp"
#include "sim/random.hpp"

namespace quire::core::block_merge_test {
namespace {

using model::node_id;
constexpr std::size_t page = 4096;
using bytes = std::vector<std::byte>;

/// A unit of some layout.
struct place {
  unit_layout layout;
  std::uint64_t unit = 0;
};

void as_the_model(const std::function<place(sim::random&)>& draw_place) {
  const diff::codec codec;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    sim::random draw(seed);
    const auto [layout, unit] = draw_place(draw);
    const std::size_t size = layout.bytes_of(unit);
    const std::uint64_t nodes = 2 + draw.below(3), home = draw.below(nodes);
    bytes base(size);
    for (auto& b : base) b = static_cast<std::byte>(draw.below(256));
    block_merge merge(layout);
    bytes expected = base;
    std::vector<std::set<std::uint64_t>> changed(size);
    std::vector<bytes> copies(nodes, base);
    bool others = false;
    for (std::uint64_t n = 0; n < nodes; ++n) {
      if (n == home) continue;
      for (std::uint64_t again = draw.below(3); again > 0; --again) {  // some send twice
        const bytes twin = copies[n];
        const std::size_t first = draw.below(size), most = std::min(size - first, 1 + draw.below(600));
        const bool raw = draw.chance(40);
        for (std::size_t i = first; i < first + most; ++i) {
          if (!draw.chance(20)) continue;
          copies[n][i] = draw.chance(10) ? base[i] : static_cast<std::byte>(draw.below(256));
        }
        for (std::size_t i = first; i < first + most; ++i) {
          if (copies[n][i] != base[i]) changed[i].insert(n);
          if (raw ? changed[i].count(n) != 0 : copies[n][i] != twin[i]) expected[i] = copies[n][i];
        }
        others = true;
        if (raw) {
          ASSERT_TRUE(merge.add(unit, first, node_id{static_cast<std::uint16_t>(n)},
                                std::span(copies[n]).subspan(first, most), true, base.data()));
          continue;
        }
        for (std::size_t at = 0; at < size; at += page) {
          bytes room(diff::worst_bytes(page));
          const auto made = codec.encode(std::span(copies[n]).subspan(at, std::min(page, size - at)), twin.data() + at,
                                         room, diff::writers::several);
          if (made.what == diff::outcome::unchanged) continue;
          if (made.what == diff::outcome::whole) {
            const auto all = std::span(copies[n]).subspan(at, std::min(page, size - at));
            ASSERT_TRUE(merge.add(unit, at, node_id{static_cast<std::uint16_t>(n)}, all, true, base.data()));
            continue;
          }
          ASSERT_EQ(made.what, diff::outcome::diff);
          ASSERT_TRUE(merge.add(unit, at, node_id{static_cast<std::uint16_t>(n)}, std::span(room).first(made.bytes),
                                false, base.data()));
        }
      }
    }
    const bool home_writes = draw.chance(70);
    bytes content = base;
    for (std::uint64_t i = home_writes ? draw.below(800) : 0; i > 0; --i) {
      const std::size_t at = draw.below(size);
      content[at] = static_cast<std::byte>(draw.below(256));
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (content[i] == base[i]) continue;
      expected[i] = content[i];
      changed[i].insert(home);
    }
    merge.finish(unit, node_id{static_cast<std::uint16_t>(home)}, content.data(), home_writes ? base.data() : nullptr);
    EXPECT_EQ(content, expected);
    const auto both = std::find_if(changed.begin(), changed.end(), [](const auto& who) { return who.size() > 1; });
    if (both == changed.end() || !others) {
      EXPECT_EQ(merge.overlap_count(), 0u);
      continue;
    }
    ASSERT_NE(merge.overlap_count(), 0u);
    const auto lowest = merge.overlaps().front();
    EXPECT_EQ(lowest.offset, layout.offset_of(unit) + static_cast<std::size_t>(both - changed.begin()));
    EXPECT_EQ(lowest.a.value(), *both->begin());
    EXPECT_EQ(lowest.b.value(), *std::next(both->begin()));
  }
}

TEST(block_merge, as_the_model) {
  as_the_model([](sim::random& draw) {
    const std::size_t size = page << draw.below(3);
    return place{unit_layout::uniform(100 * size, size), draw.below(100)};
  });
}

/// Units below a page have diffs of their own, which end where they do; an overlap is told by its offset in the region.
TEST(block_merge, as_the_model_with_units_of_several_sizes) {
  constexpr std::uint64_t sizes[] = {0, 16, 48, 256, 672, 1360, 2048}, pages = std::size(sizes);
  constexpr unsigned views = 256;
  const auto body = minipages::make({.bytes = pages * page, .unit_bytes = page, .views = views});
  ASSERT_NE(body, nullptr);
  for (std::uint64_t p = 0; p < pages; ++p) ASSERT_TRUE(dynamic_cast<minipages&>(*body).divide(p, 1, sizes[p]));
  as_the_model([&](sim::random& draw) {
    const std::uint64_t p = draw.below(pages);
    return place{unit_layout::of(*body), p * views + (sizes[p] == 0 ? 0 : draw.below(page / sizes[p]))};
  });
}

TEST(block_merge, what_is_no_diff_is_refused) {
  const bytes base(page);
  block_merge merge(unit_layout::uniform(2 * page, page));
  const bytes nonsense(3, std::byte{255});
  EXPECT_FALSE(merge.add(1, 0, node_id{0}, nonsense, false, base.data()));
  EXPECT_EQ(merge.overlap_count(), 0u);
}

TEST(byte_ranges, join) {
  byte_ranges r;
  const auto all = [&](std::uint64_t first, std::uint64_t end) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    r.for_each_in(first, end, [&](std::uint64_t a, std::uint64_t b) { found.emplace_back(a, b); });
    return found;
  };
  using list = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(all(0, 100), list{});
  r.add(10, 20);
  r.add(40, 50);
  EXPECT_EQ(all(0, 100), (list{{10, 20}, {40, 50}}));
  EXPECT_EQ(all(15, 45), (list{{15, 20}, {40, 45}}));
  EXPECT_EQ(all(20, 40), list{});
  r.add(20, 30);
  EXPECT_EQ(all(0, 100), (list{{10, 30}, {40, 50}}));
  r.add(5, 60);
  EXPECT_EQ(all(0, 100), (list{{5, 60}}));
  r.add(0, 5);
  r.add(70, 71);
  r.add(10, 12);
  EXPECT_EQ(all(0, 100), (list{{0, 60}, {70, 71}}));
}

}  // namespace
}  // namespace quire::core::block_merge_test
