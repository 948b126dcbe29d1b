// SPDX-License-Identifier: BSD-3-Clause
// QUIRE_GC_FIELDS: which offsets come of which fields.
#include <gtest/gtest.h>

#include <quire/gc.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace {

namespace gc = quire::gc;

struct empty {
  int number = 0;
  QUIRE_GC_FIELDS(empty)
};
struct tree {
  std::uint64_t number = 0;
  gc::ref<tree> left, right;
  QUIRE_GC_FIELDS(tree, right, left)
};
class hidden {
 public:
  [[nodiscard]] gc::ref<hidden> next() const { return next_; }
  QUIRE_GC_FIELDS(hidden, next_)

 private:
  char name_[12] = {};
  gc::ref<hidden> next_;
};
struct many {
  gc::ref<tree> two[2][2];
  int number = 0;
  std::array<gc::ref<empty[]>, 3> three;
  tree inner;
  hidden others[2];
  QUIRE_GC_FIELDS(many, inner, three, two, others)
};
template <class T>
struct list {
  T value{};
  gc::ref<list<T>> next;
  QUIRE_GC_FIELDS(list, next)
};
struct more : tree {
  gc::ref<more> third;
  QUIRE_GC_FIELDS(more, left, right, third)
};

template <class T>
std::vector<std::uint32_t> offsets() {
  const auto all = gc::detail::references<T>();
  return {all.begin(), all.end()};
}

TEST(gc_fields, offsets_are_in_ascending_order) {
  EXPECT_EQ(offsets<empty>(), std::vector<std::uint32_t>{});
  EXPECT_EQ(offsets<int>(), std::vector<std::uint32_t>{});
  EXPECT_EQ(offsets<gc::ref<tree>>(), std::vector<std::uint32_t>{0});
  EXPECT_EQ(offsets<gc::ref<tree[]>>(), std::vector<std::uint32_t>{0});
  EXPECT_EQ(offsets<tree>(), (std::vector<std::uint32_t>{8, 16}));
  EXPECT_EQ(offsets<hidden>(), std::vector<std::uint32_t>{16});
  EXPECT_EQ(offsets<list<char>>(), std::vector<std::uint32_t>{8});
  EXPECT_EQ(offsets<more>(), (std::vector<std::uint32_t>{8, 16, 24}));
}

TEST(gc_fields, arrays_and_members_with_fields_have_theirs) {
  const auto at = [](std::size_t offset) { return static_cast<std::uint32_t>(offset); };
  const std::uint32_t three = 40, inner = 64, others = 88;
  const std::vector<std::uint32_t> wanted = {
      0, 8, 16, 24, three, three + 8, three + 16, inner + 8, inner + 16, others + 16, at(others + sizeof(hidden) + 16)};
  EXPECT_EQ(offsets<many>(), wanted);
}

TEST(gc_fields, names_of_types_are_told_apart_and_fit) {
  EXPECT_EQ(gc::detail::name_of<int>(), "int");
  EXPECT_NE(gc::detail::name_of<list<char>>(), gc::detail::name_of<list<int>>());
  using long_one = list<std::array<std::array<list<list<list<std::array<tree, 12345>>>>, 12345>, 12345>>;
  using other_one = list<std::array<std::array<list<list<list<std::array<tree, 12345>>>>, 12345>, 12346>>;
  EXPECT_LE(gc::detail::name_of<long_one>().size(), 63u);
  EXPECT_NE(gc::detail::name_of<long_one>(), gc::detail::name_of<other_one>());
}

TEST(gc_fields, references_are_plain_words) {
  static_assert(sizeof(gc::ref<tree>) == 8 && std::is_trivially_copyable_v<gc::ref<tree>>);
  static_assert(sizeof(gc::ref<tree[]>) == 8 && std::is_trivially_copyable_v<gc::ref<tree[]>>);
  EXPECT_FALSE(gc::ref<tree>{});
  tree one;
  const gc::ref<tree> r(&one);
  r->left = r;
  EXPECT_TRUE(one.left == r);
  EXPECT_TRUE(one.right == nullptr);
  EXPECT_EQ(gc::ref<int[]>{}.size(), 0u);
}

}  // namespace
