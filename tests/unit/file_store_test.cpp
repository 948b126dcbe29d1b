// SPDX-License-Identifier: BSD-3-Clause
// A file as a store: what it has and has not, and what the file looks like afterwards.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "store/file/file.hpp"

namespace quire::store {
namespace {

constexpr std::size_t page = 4096;

struct file_store : testing::Test {
  file_store() : path(testing::TempDir() + "quire_file_store_" + std::to_string(::getpid())) { ::unlink(path.c_str()); }
  ~file_store() override { ::unlink(path.c_str()); }
  void put(const std::string& content) { std::ofstream(path, std::ios::binary) << content; }
  std::string get() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::unique_ptr<file> open(file::way how) {
    error = 0;
    return file::open(path, how, error);
  }
  static std::span<const std::byte> bytes(const std::string& of) { return std::as_bytes(std::span(of)); }
  std::string path;
  int error = 0;
};

TEST_F(file_store, has_what_the_file_has_and_zeroes_beyond) {
  std::string content(page, 'a');
  content += "bc";
  put(content);
  const auto f = open(file::way::read);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->bytes(), page + 2);
  std::vector<std::byte> found(2 * page, std::byte{9});
  ASSERT_EQ(f->fill(0, found), 0);
  EXPECT_EQ(found[page - 1], std::byte{'a'});
  EXPECT_EQ(found[page + 1], std::byte{'c'});
  EXPECT_EQ(found[page + 2], std::byte{0});
  EXPECT_EQ(found[2 * page - 1], std::byte{0});
  ASSERT_EQ(f->fill(64 * page, found), 0);
  EXPECT_EQ(found[0], std::byte{0});
}

TEST_F(file_store, does_not_grow_by_the_rest_of_a_unit) {
  put(std::string(page + 2, 'a'));
  const auto f = open(file::way::write);
  ASSERT_NE(f, nullptr);
  ASSERT_EQ(f->flush(page, bytes(std::string(page, 'x'))), 0);
  ASSERT_EQ(f->flush(2 * page, bytes(std::string(page, 'y'))), 0);
  EXPECT_EQ(f->sync(), 0);
  std::string expected(page, 'a');
  expected += "xx";
  EXPECT_EQ(get(), expected);
}

TEST_F(file_store, grows_and_shrinks_when_told) {
  const auto f = open(file::way::create);
  ASSERT_NE(f, nullptr);
  ASSERT_EQ(f->resize(5), 0);
  ASSERT_EQ(f->flush(0, bytes(std::string(page, 'z'))), 0);
  EXPECT_EQ(get(), "zzzzz");
  ASSERT_EQ(f->resize(2), 0);
  EXPECT_EQ(f->bytes(), 2u);
  EXPECT_EQ(get(), "zz");
}

/// Whoever cuts a file while others write it: no flush that began before makes it longer again.
TEST_F(file_store, stays_cut_while_it_is_written) {
  const auto f = open(file::way::create);
  ASSERT_NE(f, nullptr);
  std::atomic<bool> over{false};
  std::thread writes([&] {
    const std::string content(64 * page, 'w');
    while (!over) (void)f->flush(0, bytes(content));
  });
  for (unsigned i = 0; i < 300; ++i) {
    ASSERT_EQ(f->resize(64 * page), 0);
    ASSERT_EQ(f->resize(3), 0);
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_size, 3);
  }
  over = true;
  writes.join();
}

TEST_F(file_store, says_what_it_cannot_do) {
  EXPECT_EQ(open(file::way::write), nullptr);
  EXPECT_EQ(error, ENOENT);
  path = testing::TempDir();
  EXPECT_EQ(open(file::way::read), nullptr);
  EXPECT_EQ(error, EINVAL) << "a directory";
  path = "/nonexistent/file";
  EXPECT_EQ(open(file::way::create), nullptr);
  EXPECT_EQ(error, ENOENT);
}

TEST_F(file_store, that_is_only_read_is_not_written) {
  put("abc");
  const auto f = open(file::way::read);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->flush(0, bytes("xyz")), EROFS);
  EXPECT_EQ(f->resize(1), EROFS);
  EXPECT_EQ(f->sync(), 0);
  EXPECT_EQ(get(), "abc");
}

TEST_F(file_store, is_tried_without_waiting) {
  put(std::string(2 * page, 'a'));
  const auto f = open(file::way::read);
  ASSERT_NE(f, nullptr);
  std::vector<std::byte> found(page);
  const int tried = f->try_fill(page, found);
  ASSERT_TRUE(tried == 0 || tried == EAGAIN);
  EXPECT_TRUE(tried != 0 || found[page - 1] == std::byte{'a'});
  EXPECT_EQ(f->try_fill(2 * page, found), EAGAIN) << "beyond the end";
}

}  // namespace
}  // namespace quire::store
