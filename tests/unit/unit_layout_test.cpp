// SPDX-License-Identifier: BSD-3-Clause
// Where units lie: each byte of a region is in one unit, units are in the order of their numbers, and ranges are
// covered exactly.
#include "core/unit_layout.hpp"

#include <gtest/gtest.h>

namespace quire::core::unit_layout_test {
namespace {

class layouts : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t bytes = std::uint64_t{16} << 20;
  unit_layout layout = unit_layout::uniform(bytes, GetParam());
};

TEST_P(layouts, give_each_byte_to_one_unit) {
  std::uint64_t offset = 0;
  for (std::uint64_t unit = 0; unit < layout.units(); ++unit) {
    ASSERT_EQ(layout.offset_of(unit), offset);
    ASSERT_EQ(layout.unit_of(offset), unit);
    offset += layout.bytes_of(unit);
    ASSERT_EQ(layout.unit_of(offset - 1), unit);
    ASSERT_LE(layout.bytes_of(unit), layout.most_bytes());
  }
  EXPECT_EQ(offset, bytes);
}

TEST_P(layouts, know_how_large_several_are) {
  for (const std::uint64_t first : {std::uint64_t{0}, layout.units() / 3, layout.units() - 1}) {
    std::uint64_t sum = 0;
    for (std::uint64_t count = 0; first + count < layout.units() && count < 20;
         sum += layout.bytes_of(first + count), ++count) {
      EXPECT_EQ(layout.bytes_of(first, count), sum);
    }
  }
}

TEST_P(layouts, have_a_frame_for_each_unit) {
  EXPECT_EQ(layout.frames(), layout.units());
  for (const std::uint64_t unit : {std::uint64_t{0}, layout.units() / 3, layout.units() - 1}) {
    EXPECT_EQ(layout.frame_of(unit), unit);
    EXPECT_EQ(layout.units_of(unit).first, unit);
    EXPECT_EQ(layout.units_of(unit).count(), 1u);
    EXPECT_EQ(layout.bytes_of_frames(unit, 1), layout.bytes_of(unit));
    EXPECT_EQ(layout.frames_fitting(unit, 3 * layout.most_bytes()), 3u);
  }
}

TEST_P(layouts, cover_ranges_exactly) {
  const std::uint64_t edge = layout.offset_of(layout.units() / 2);
  for (const std::uint64_t first : {std::uint64_t{0}, edge - 1, edge, edge + 1, bytes - 2}) {
    for (const std::uint64_t length :
         {std::uint64_t{1}, std::uint64_t{2}, layout.most_bytes(), layout.most_bytes() + 1}) {
      if (first + length > bytes) continue;
      const unit_range all = layout.under(first, length);
      ASSERT_GT(all.count(), 0u);
      EXPECT_LE(layout.offset_of(all.first), first);
      EXPECT_GT(layout.offset_of(all.first) + layout.bytes_of(all.first), first);
      EXPECT_LT(layout.offset_of(all.end - 1), first + length);
      EXPECT_GE(layout.offset_of(all.end - 1) + layout.bytes_of(all.end - 1), first + length);
    }
  }
}

TEST_P(layouts, know_how_many_fit) {
  for (const std::uint64_t room :
       {std::uint64_t{0}, std::uint64_t{1}, layout.most_bytes(), 3 * layout.most_bytes() - 1, bytes}) {
    const std::uint64_t count = layout.fitting(0, room);
    ASSERT_GE(count, 1u);
    EXPECT_TRUE(count == 1 || layout.bytes_of(0, count) <= room);
    EXPECT_GT(layout.bytes_of(0, count + 1), room);
  }
}

INSTANTIATE_TEST_SUITE_P(uniform, layouts, testing::Values(4096, 65536, 2 << 20),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::core::unit_layout_test
