// SPDX-License-Identifier: BSD-3-Clause
// Stores of the table: what was flushed comes back, and what cannot be written or read says so.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "os/injection.hpp"
#include "store/table.hpp"

namespace quire::store::store_test {
namespace {

constexpr std::size_t page = 4096;

std::vector<std::byte> pages_of(unsigned value, std::size_t count = 1) {
  return std::vector<std::byte>(count * page, static_cast<std::byte>(value));
}

std::unique_ptr<store> make_swap(const std::string& directory = testing::TempDir()) {
  return find(built_in(), 0)->make({directory});
}

TEST(stores, have_numbers_and_names_of_their_own) {
  std::set<unsigned> ids;
  std::set<std::string> names;
  for (const row* const r : built_in()) {
    EXPECT_TRUE(ids.insert(r->id).second && names.insert(r->name).second) << r->name;
    EXPECT_EQ(find(built_in(), r->id), r);
  }
  EXPECT_TRUE(ids.contains(0)) << "regions that name no store have one";
  EXPECT_EQ(find(built_in(), 255), nullptr);
}

TEST(swap, gives_back_what_was_flushed_last) {
  const auto s = make_swap();
  ASSERT_EQ(s->flush(0, pages_of(1, 4)), 0);
  ASSERT_EQ(s->flush(1'000 * page, pages_of(2)), 0);
  ASSERT_EQ(s->flush(page, pages_of(3)), 0);
  EXPECT_EQ(s->sync(), 0);
  std::vector<std::byte> found(4 * page);
  ASSERT_EQ(s->fill(0, found), 0);
  EXPECT_EQ(found[0], std::byte{1});
  EXPECT_EQ(found[page], std::byte{3});
  EXPECT_EQ(found[4 * page - 1], std::byte{1});
  ASSERT_EQ(s->fill(1'000 * page, std::span(found).first(page)), 0);
  EXPECT_EQ(found[0], std::byte{2});
}

TEST(swap, says_what_it_cannot_do) {
  const auto s = make_swap();
  std::vector<std::byte> found(page);
  EXPECT_NE(s->fill(0, found), 0) << "nothing has been flushed";
  EXPECT_EQ(s->try_fill(0, found), EAGAIN);
  ASSERT_EQ(s->flush(0, pages_of(1)), 0);
  EXPECT_EQ(s->fill(page, found), EIO) << "beyond its end";
  EXPECT_EQ(make_swap("/nonexistent")->flush(0, pages_of(1)), ENOENT);
  os::inject(os::call::scratch_write, 1, ENOSPC);
  EXPECT_EQ(s->flush(0, pages_of(2)), ENOSPC);
  os::inject(os::call::none, 0, 0);
  EXPECT_EQ(s->flush(0, pages_of(2)), 0);
}

/// What was written just now is in the page cache, where the file system tells.
TEST(swap, is_tried_without_waiting) {
  const auto s = make_swap();
  ASSERT_EQ(s->flush(0, pages_of(7, 8)), 0);
  std::vector<std::byte> found(8 * page);
  const int error = s->try_fill(0, found);
  ASSERT_TRUE(error == 0 || error == EAGAIN) << error;
  EXPECT_TRUE(error != 0 || found[8 * page - 1] == std::byte{7});
  EXPECT_EQ(s->try_fill(4 * page, found), EAGAIN) << "half of it is beyond the end";
}

TEST(swap, has_one_file_whoever_makes_it) {
  for (unsigned round = 0; round < 20; ++round) {
    const auto s = make_swap();
    std::vector<std::thread> all;
    for (unsigned i = 0; i < 4; ++i) all.emplace_back([&, i] { EXPECT_EQ(s->flush(i * page, pages_of(i + 1)), 0); });
    for (auto& t : all) t.join();
    std::vector<std::byte> found(4 * page);
    ASSERT_EQ(s->fill(0, found), 0);
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(found[i * page], static_cast<std::byte>(i + 1));
  }
}

}  // namespace
}  // namespace quire::store::store_test
