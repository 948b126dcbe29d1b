// SPDX-License-Identifier: BSD-3-Clause
// The numbers by which the kernel knows files of a mount.
#include <gtest/gtest.h>

#include <cerrno>

#include "mount/name_table.hpp"

namespace quire::mount::mount_names_test {
namespace {

constexpr name_table::number first = 2;

file_facts file_of(std::uint64_t identity, std::uint64_t bytes = 0) { return {bytes, identity, false}; }

/// Knows which handles were closed, and nothing else.
class closings final : public files {
 public:
  std::vector<handle> closed;
  int list(std::vector<named_file>&) override { return EIO; }
  int look_up(const std::string&, file_facts&) override { return EIO; }
  int open(const std::string&, bool, handle&) override { return EIO; }
  int create(const std::string&, handle&) override { return EIO; }
  void close(handle h) override { closed.push_back(h); }
  int facts(handle, file_facts&) override { return EIO; }
  int read(handle, std::uint64_t, void*, std::size_t, std::size_t&) override { return EIO; }
  int write(handle, std::uint64_t, const void*, std::size_t, std::size_t&) override { return EIO; }
  int append(handle, const void*, std::size_t) override { return EIO; }
  int truncate(handle, std::uint64_t) override { return EIO; }
  int sync(handle) override { return EIO; }
  int remove(const std::string&) override { return EIO; }
  int rename(const std::string&, const std::string&, bool) override { return EIO; }
  int lock(handle, const file_lock&, lock_wait) override { return EIO; }
  int test_lock(handle, file_lock&) override { return EIO; }
  void space(std::uint64_t&, std::uint64_t&) override {}
};

TEST(MountNames, AFileKeepsItsNumberUnderAnotherName) {
  name_table all(first);
  EXPECT_EQ(all.look_up("a", file_of(10)), first);
  EXPECT_EQ(all.look_up("b", file_of(11)), first + 1);
  EXPECT_EQ(all.look_up("b", file_of(10)), first) << "renamed over it";
  EXPECT_EQ(all.look_up("b", file_of(12)), first + 2) << "another file by that name";
  name_table::known file;
  ASSERT_TRUE(all.find(first, file));
  EXPECT_EQ(file.name, "b");
  EXPECT_EQ(file.facts.identity, 10u);
  EXPECT_FALSE(all.find(first + 3, file));
}

TEST(MountNames, ANumberGoesWithTheLastOfTheKernelsLooks) {
  name_table all(first);
  EXPECT_EQ(all.look_up("a", file_of(10)), first);
  EXPECT_EQ(all.look_up("a", file_of(10)), first);
  all.forget(first, 1);
  EXPECT_EQ(all.look_up("a", file_of(10)), first);
  all.forget(first, 2);
  name_table::known file;
  EXPECT_FALSE(all.find(first, file));
  EXPECT_EQ(all.look_up("b", file_of(11)), first + 1) << "no number is given to another file";
  all.forget(first + 1, 100);
  all.forget(first + 1, 1);
  EXPECT_FALSE(all.find(first + 1, file));
}

TEST(MountNames, AFileThatIsForgottenKeepsNumberAndTime) {
  name_table all(first);
  const auto a = all.look_up("a", file_of(10));
  all.changed(a, {5, 6});
  name_table::known file;
  for (int i = 0; i < 3; ++i) {
    all.forget(a, 1);
    EXPECT_EQ(all.look_up("b", file_of(10)), a);
    ASSERT_TRUE(all.find(a, file));
    EXPECT_EQ(file.changed.tv_sec, 5);
  }
  // Of files that have gone nothing is kept for ever.
  all.forget(a, 1);
  for (std::uint64_t i = 0; i < name_table::most_forgotten; ++i) all.forget(all.look_up("c", file_of(100 + i)), 1);
  EXPECT_EQ(all.look_up("c", file_of(101)), first + 2);
  EXPECT_EQ(all.look_up("b", file_of(10)), first + 1 + name_table::most_forgotten);
}

TEST(MountNames, ModesAreTheFiles) {
  name_table all(first);
  name_table::known file;
  const auto mode_of = [&](name_table::number n) {
    EXPECT_TRUE(all.find(n, file));
    return file.mode;
  };
  const auto a = all.look_up("a", file_of(10)), b = all.look_up("b", file_of(11), 0600);
  EXPECT_EQ(mode_of(a), name_table::usual_mode);
  EXPECT_EQ(mode_of(b), 0600u);
  EXPECT_EQ(all.look_up("c", file_of(11)), b);
  EXPECT_EQ(mode_of(b), 0600u);
  all.set_mode(b, 0755);
  all.forget(b, 2);
  EXPECT_EQ(all.look_up("b", file_of(11), 0644), b);
  EXPECT_EQ(mode_of(b), 0755u);
  // The directory, which nobody looks up.
  all.know(1, 0700);
  EXPECT_EQ(mode_of(1), 0700u);
  all.forget(1, 1);
  all.set_mode(1, 0711);
  EXPECT_EQ(mode_of(1), 0711u);
}

TEST(MountNames, AnotherLengthIsAChange) {
  name_table all(first);
  name_table::known file;
  const auto a = all.look_up("a", file_of(10));
  const auto second_of = [&] {
    EXPECT_TRUE(all.find(a, file));
    return file.changed.tv_sec;
  };
  all.changed(a, {5, 6});
  all.saw(a, file_of(10));
  EXPECT_EQ(second_of(), 5);
  all.saw(a, file_of(10, 100));
  EXPECT_GT(second_of(), 5) << "written elsewhere";
  all.changed_now(a);  // written here, to another length, and then the time is set
  all.changed(a, {7, 8});
  all.saw(a, file_of(10, 200));
  EXPECT_EQ(second_of(), 7);
  EXPECT_EQ(all.look_up("a", file_of(10, 201)), a);
  EXPECT_GT(second_of(), 7);
}

TEST(MountNames, TimesAreTheFilesNotTheNames) {
  name_table all(first);
  const auto a = all.look_up("a", file_of(10));
  all.changed(a, {5, 6});
  EXPECT_EQ(all.look_up("b", file_of(10)), a);
  name_table::known file;
  ASSERT_TRUE(all.find(a, file));
  EXPECT_EQ(file.changed.tv_sec, 5);
  EXPECT_EQ(file.changed.tv_nsec, 6);
  all.changed_now(a);
  ASSERT_TRUE(all.find(a, file));
  EXPECT_GT(file.changed.tv_sec, 5);
}

TEST(MountNames, WhatIsOpenIsClosedByItsLastUser) {
  closings shown;
  name_table all(first);
  const auto a = all.look_up("a", file_of(10));
  EXPECT_EQ(all.any_open(a), nullptr);
  const auto* const one = new opened(shown, 1);
  all.add(a, std::shared_ptr<opened>(const_cast<opened*>(one)));
  all.add(a, std::make_shared<opened>(shown, 2));
  EXPECT_EQ(all.find_open(a, one).get(), one);
  auto user = all.any_open(a);
  ASSERT_NE(user, nullptr);
  EXPECT_EQ(user->handle, 1u);
  all.remove(a, one);
  EXPECT_TRUE(shown.closed.empty()) << "a request uses it";
  EXPECT_EQ(all.find_open(a, one), nullptr);
  user.reset();
  EXPECT_EQ(shown.closed, std::vector<files::handle>{1});
  all.remove(a, one);
  EXPECT_EQ(shown.closed.size(), 1u) << "it has gone";
  all.clear();
  EXPECT_EQ(shown.closed, (std::vector<files::handle>{1, 2}));
  EXPECT_EQ(all.any_open(a), nullptr);
}

}  // namespace
}  // namespace quire::mount::mount_names_test
