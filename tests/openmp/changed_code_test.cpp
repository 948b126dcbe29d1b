// SPDX-License-Identifier: BSD-3-Clause
// What is known of code as it was, on bytes that never run.
#include "program/sites/changed_code.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace quire::program::sites {
namespace {

constexpr std::size_t page = 4096;

/// Two libraries of a page each.
class ChangedCode : public testing::Test {
 protected:
  ~ChangedCode() override { forget_code(at(0), at(2 * page)); }
  [[nodiscard]] std::uint64_t at(std::size_t i) const { return reinterpret_cast<std::uint64_t>(code_.data() + i); }
  /// As code_changes does.
  void change(std::size_t i, int to) {
    const auto before = static_cast<std::uint8_t>(code_[i]);
    code_[i] = static_cast<std::byte>(to);
    remember_code(at(i), before);
  }
  [[nodiscard]] std::vector<std::byte> as_it_was() const { return unchanged_code(code_); }

  alignas(page) std::array<std::byte, 2 * page> code_{};
};

TEST_F(ChangedCode, is_known_as_it_was) {
  const auto before = as_it_was();
  for (std::size_t i = page - 20; i < page + 20; ++i) change(i, 7);
  change(100, 8);
  change(100, 9);
  EXPECT_EQ(as_it_was(), before);
}

TEST_F(ChangedCode, of_a_library_that_has_gone_is_not_known) {
  for (std::size_t i = page - 3; i < page + 3; ++i) change(i, 7);
  forget_code(at(0), at(page));
  const auto found = as_it_was();
  EXPECT_EQ(found[page - 1], std::byte{7});  // another library's now
  EXPECT_EQ(found[page], std::byte{0});
}

TEST_F(ChangedCode, is_known_however_many_libraries_come_and_go) {
  for (std::size_t round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < 2 * page; i += 2) change(i, 7);
    forget_code(at(0), at(2 * page));
  }
  change(0, 8);
  ASSERT_EQ(as_it_was().size(), code_.size());
  EXPECT_EQ(as_it_was()[0], std::byte{7});
}

TEST_F(ChangedCode, of_one_library_is_read_while_another_comes_and_goes) {
  change(0, 7);
  std::atomic<bool> ends{false};
  std::thread loads([&] {
    while (!ends) {
      for (std::size_t i = 0; i < 100; i += 2) remember_code(at(page + i), 1);
      forget_code(at(page), at(2 * page));
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto found = unchanged_code(std::span(code_).first(page));
    EXPECT_EQ(found.size(), page);
    EXPECT_EQ(found.empty() ? std::byte{9} : found[0], std::byte{0});
  }
  ends = true;
  loads.join();
}

}  // namespace
}  // namespace quire::program::sites
