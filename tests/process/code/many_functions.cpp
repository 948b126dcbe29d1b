// SPDX-License-Identifier: BSD-3-Clause
// A module whose unwind tables take several pages.
#include <utility>

namespace {
constexpr int count = 1000;
template <int number>
__attribute__((noinline)) int add(int value) {
  return value + number;
}
template <int... numbers>
int call(int which, int value, std::integer_sequence<int, numbers...>) {
  static constexpr int (*all[])(int) = {add<numbers>...};
  return all[which](value);
}
}  // namespace

extern "C" int add_number(int which, int value) { return call(which, value, std::make_integer_sequence<int, count>()); }
