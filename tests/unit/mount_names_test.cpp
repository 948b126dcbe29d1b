// SPDX-License-Identifier: BSD-3-Clause
// The numbers by which the kernel knows files of a mount.
#include <gtest/gtest.h>

#include <cerrno>

#include "mount/name_table.hpp"

namespace quire::mount {
namespace {

constexpr name_table::number first = 2;

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
  int lock(handle, const file_lock&) override { return EIO; }
  int test_lock(handle, file_lock&) override { return EIO; }
  void space(std::uint64_t&, std::uint64_t&) override {}
};

TEST(MountNames, AFileKeepsItsNumberUnderAnotherName) {
  name_table all(first);
  EXPECT_EQ(all.look_up("a", 10), first);
  EXPECT_EQ(all.look_up("b", 11), first + 1);
  EXPECT_EQ(all.look_up("b", 10), first) << "renamed over it";
  EXPECT_EQ(all.look_up("b", 12), first + 2) << "another file by that name";
  name_table::known file;
  ASSERT_TRUE(all.find(first, file));
  EXPECT_EQ(file.name, "b");
  EXPECT_EQ(file.identity, 10u);
  EXPECT_FALSE(all.find(first + 3, file));
}

TEST(MountNames, ANumberGoesWithTheLastOfTheKernelsLooks) {
  name_table all(first);
  EXPECT_EQ(all.look_up("a", 10), first);
  EXPECT_EQ(all.look_up("a", 10), first);
  all.forget(first, 1);
  EXPECT_EQ(all.look_up("a", 10), first);
  all.forget(first, 2);
  name_table::known file;
  EXPECT_FALSE(all.find(first, file));
  EXPECT_EQ(all.look_up("a", 10), first + 1) << "no number comes twice";
  all.forget(first + 1, 100);
  all.forget(first + 1, 1);
  EXPECT_FALSE(all.find(first + 1, file));
}

TEST(MountNames, TimesAreTheFilesNotTheNames) {
  name_table all(first);
  const auto a = all.look_up("a", 10);
  all.changed(a, {5, 6});
  EXPECT_EQ(all.look_up("b", 10), a);
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
  const auto a = all.look_up("a", 10);
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
}  // namespace quire::mount
