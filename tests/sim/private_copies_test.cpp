// SPDX-License-Identifier: BSD-3-Clause
// Simulated memory with private copies: what threads see, what the frame holds, what the runtime may read, and what is
// complained about.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/whole/memory.hpp"

namespace quire::whole::private_copies_test {
namespace {

constexpr std::uint64_t pages = 4;

class private_copies : public testing::Test {
 protected:
  private_copies() {
    EXPECT_EQ(pool.populate(0, pages * os::page_bytes), 0);
    EXPECT_EQ(guard.attach(pool.application_view(), pages * os::page_bytes, true), 0);
  }
  [[nodiscard]] std::byte* at(std::uint64_t page, std::uint64_t word = 0) const {
    return pool.application_view() + page * os::page_bytes + word * 8;
  }
  void permit(std::uint64_t page, access from, access to, std::uint64_t count = 1) {
    EXPECT_EQ(guard.permit(at(page), count * os::page_bytes, from, to), 0);
  }
  void protect(std::uint64_t page, access from, access to, std::uint64_t count = 1) {
    EXPECT_EQ(guard.protect(at(page), count * os::page_bytes, from, to), 0);
  }
  /// As node::try_store() does.
  void store(std::uint64_t page, std::uint64_t value) {
    guard.note_write(at(page));
    std::memcpy(at(page), &value, sizeof value);
  }
  [[nodiscard]] std::uint64_t load(std::uint64_t page) const {
    return *reinterpret_cast<volatile const std::uint64_t*>(at(page));
  }
  [[nodiscard]] std::uint64_t frame(std::uint64_t page) const {
    std::uint64_t value = 0;
    std::memcpy(&value, pool.system_view() + page * os::page_bytes, sizeof value);
    return value;
  }
  void set_frame(std::uint64_t page, std::uint64_t value) {
    std::memcpy(pool.system_view() + page * os::page_bytes, &value, sizeof value);
  }

  frame_map map{pages, ::quire::pool::view_kind::private_copies};
  frame_map* next = &map;
  array_pool pool{pages * os::page_bytes, next};
  std::vector<std::string> complaints;
  table_detector guard{detect::kind::userfault_inline, next,
                       [this](const std::string& what) { complaints.push_back(what); }};
};

TEST_F(private_copies, have_frames_behind_them_that_stay_as_they_are) {
  set_frame(0, 5);
  permit(0, access::none, access::read);
  EXPECT_EQ(load(0), 5u);
  set_frame(0, 6);
  EXPECT_EQ(load(0), 6u) << "a page without a copy shows the frame";
  permit(0, access::read, access::write);
  EXPECT_FALSE(guard.has_copy(at(0)));
  set_frame(0, 7);
  EXPECT_EQ(load(0), 7u) << "nobody has written yet";
  store(0, 8);
  EXPECT_TRUE(guard.has_copy(at(0)));
  EXPECT_EQ(load(0), 8u);
  EXPECT_EQ(frame(0), 7u);
  set_frame(0, 9);
  EXPECT_EQ(load(0), 8u) << "the copy hears nothing of its frame";
  EXPECT_TRUE(complaints.empty());
}

TEST_F(private_copies, are_made_by_the_first_store_where_writes_are_permitted_at_once) {
  permit(1, access::none, access::write);
  store(1, 3);
  EXPECT_EQ(load(1), 3u);
  EXPECT_EQ(frame(1), 0u);
}

TEST_F(private_copies, stay_where_writes_are_taken_away_and_go_with_the_page) {
  permit(0, access::none, access::write, 2);
  store(0, 3);
  protect(0, access::write, access::read, 2);
  EXPECT_TRUE(guard.has_copy(at(0)));
  EXPECT_FALSE(guard.has_copy(at(1)));
  EXPECT_EQ(load(0), 3u);
  set_frame(0, 4);
  permit(0, access::read, access::write);
  EXPECT_EQ(load(0), 3u) << "the same copy may be written again";
  protect(0, access::write, access::none);
  EXPECT_FALSE(guard.has_copy(at(0)));
  permit(0, access::none, access::read);
  EXPECT_EQ(load(0), 4u) << "the frame shows again";
  EXPECT_TRUE(complaints.empty());
}

/// What commit does: the runtime reads what threads see, and puts it into the frame.
TEST_F(private_copies, are_published_by_a_copy_to_the_frame) {
  permit(2, access::none, access::write);
  store(2, 11);
  std::memcpy(pool.system_view() + 2 * os::page_bytes, at(2), os::page_bytes);
  EXPECT_EQ(frame(2), 11u);
  protect(2, access::write, access::read);
  protect(2, access::read, access::none);
  permit(2, access::none, access::read);
  EXPECT_EQ(load(2), 11u);
}

TEST_F(private_copies, are_not_taken_away_by_the_kernel_as_other_pages_are) {
  permit(0, access::none, access::write, 2);
  store(0, 3);
  guard.unmap(at(0));
  guard.unmap(at(1));
  EXPECT_EQ(guard.right_at(at(0)), access::write);
  EXPECT_EQ(load(0), 3u);
  EXPECT_EQ(guard.right_at(at(1)), access::none);
  permit(1, access::none, access::write);
  EXPECT_EQ(guard.right_at(at(1)), access::write);
  store(1, 4);
  EXPECT_TRUE(complaints.empty());
}

TEST_F(private_copies, show_empty_frames_that_were_given_back) {
  set_frame(3, 5);
  EXPECT_EQ(pool.give_back(3 * os::page_bytes, os::page_bytes), 0);
  EXPECT_EQ(guard.permit(at(3), os::page_bytes, access::none, access::read), EFAULT);
  EXPECT_EQ(pool.populate(3 * os::page_bytes, os::page_bytes), 0);
  permit(3, access::none, access::read);
  EXPECT_EQ(load(3), 0u);
}

TEST_F(private_copies, are_complained_about_where_writes_are_not_permitted) {
  permit(0, access::none, access::read);
  guard.note_write(at(0));
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_NE(complaints[0].find("not permitted for writing"), std::string::npos);
}

TEST_F(private_copies, of_scanned_pages_need_only_the_one_permission) {
  table_detector scanning{detect::kind::userfault_scan, next,
                          [this](const std::string& what) { complaints.push_back(what); }};
  EXPECT_EQ(scanning.attach(pool.application_view(), pages * os::page_bytes, true), 0);
  EXPECT_EQ(scanning.permit(at(0), os::page_bytes, access::none, access::read), 0);
  scanning.note_write(at(0));
  const std::uint64_t value = 3;
  std::memcpy(at(0), &value, sizeof value);
  EXPECT_EQ(frame(0), 0u);
  EXPECT_TRUE(scanning.has_copy(at(0)));
  EXPECT_TRUE(complaints.empty());
}

/// The driver would fault, and nobody would be there to help it: it must not look at a page that threads may not read,
/// nor roll back one that threads may not write.
TEST_F(private_copies, are_protected_from_the_runtime_too) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  permit(0, access::none, access::write, 2);
  store(0, 3);
  protect(0, access::write, access::read);
  EXPECT_EQ(load(0), 3u);
  EXPECT_DEATH(std::memset(at(0), 0, 8), "page 0 of an application view with private copies");
  EXPECT_DEATH((void)load(3), "page 3 of an application view with private copies");
  guard.unmap(at(1));
  EXPECT_DEATH((void)load(1), "page 1 of an application view with private copies");
}

}  // namespace
}  // namespace quire::whole::private_copies_test
