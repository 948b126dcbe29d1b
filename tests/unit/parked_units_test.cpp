// SPDX-License-Identifier: BSD-3-Clause
// What waits for the content of units: a queue a unit.
#include <gtest/gtest.h>

#include <vector>

#include "core/parked_units.hpp"

namespace quire::core::parked_units_test {
namespace {

op make_op() {
  return op([](core&, op&) noexcept {}, op::type::call);
}

TEST(parked_units, are_taken_by_unit_in_the_order_in_which_they_came) {
  parked_units all;
  region_slot one, other;
  other.about.id = 1;
  parked_unit next;
  EXPECT_TRUE(all.empty() && !all.has(one, 5) && !all.pop(one, 5, next));
  for (std::uint64_t i = 0; i < 3'000; ++i) {  // far more than there are buckets
    model::message m;
    m.kind = model::message_kind::done;
    m.unit = i % 1'000;
    m.a = i;
    all.push({.region = i % 2 == 0 ? &one : &other, .frame = m.unit, .m = m});
  }
  EXPECT_TRUE(all.has(one, 4) && !all.has(other, 4) && all.has_any_of(one) && all.has_any_of(other));
  for (std::uint64_t frame = 0; frame < 1'000; ++frame) {
    for (std::uint64_t k = 0; k < 3; ++k) {
      ASSERT_TRUE(all.pop(frame % 2 == 0 ? one : other, frame, next)) << frame;
      EXPECT_EQ(next.m.a, frame + 1'000 * k);
    }
    EXPECT_FALSE(all.has(one, frame) || all.has(other, frame));
  }
  EXPECT_TRUE(all.empty() && !all.has_any_of(one));
}

TEST(parked_units, lose_who_waits_no_longer) {
  parked_units all;
  region_slot r;
  op a = make_op(), b = make_op();
  for (op* const o : {&a, &b}) all.push({.region = &r, .frame = 7, .operation = o});
  all.remove(r, 7, a);
  all.remove(r, 7, a);
  parked_unit left;
  ASSERT_TRUE(all.pop(r, 7, left));
  EXPECT_EQ(left.operation, &b);
  EXPECT_TRUE(all.empty());
}

}  // namespace
}  // namespace quire::core::parked_units_test
