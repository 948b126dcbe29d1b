// SPDX-License-Identifier: BSD-3-Clause
#include "sync/combine.hpp"

#include <cstring>

namespace quire::sync {
namespace {

template <class T, class F>
void each(std::span<std::byte> into, std::span<const std::byte> from, F&& f) noexcept {
  for (std::size_t at = 0; at + sizeof(T) <= into.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, into.data() + at, sizeof a);
    std::memcpy(&b, from.data() + at, sizeof b);
    a = f(a, b);
    std::memcpy(into.data() + at, &a, sizeof a);
  }
}

/// Sums and products of `Wrapping`: that of a whole number is unsigned, as overflow wraps, and is no undefined
/// behaviour.
template <class T, class Wrapping>
void combine_each(quire_operation how, std::span<std::byte> into, std::span<const std::byte> from) noexcept {
  switch (how) {
    case QUIRE_MIN:
      return each<T>(into, from, [](T a, T b) { return b < a ? b : a; });
    case QUIRE_MAX:
      return each<T>(into, from, [](T a, T b) { return a < b ? b : a; });
    case QUIRE_PRODUCT:
      return each<Wrapping>(into, from, [](Wrapping a, Wrapping b) { return a * b; });
    default:
      return each<Wrapping>(into, from, [](Wrapping a, Wrapping b) { return a + b; });
  }
}

}  // namespace

void combine(call_shape shape, std::span<std::byte> into, std::span<const std::byte> from) noexcept {
  switch (shape.what) {
    case operation::reduce_f64:
    case operation::group_reduce_f64:
      return combine_each<double, double>(shape.how, into, from);
    case operation::reduce_i64:
    case operation::group_reduce_i64:
      return combine_each<std::int64_t, std::uint64_t>(shape.how, into, from);
    default:
      return;
  }
}

bool combine(call_shape shape, value& into, const value& from) noexcept {
  if (is_broadcast(shape.what)) {  // one of them is empty, but for the root's way up
    if (into.empty()) into = from;
    return true;
  }
  if (into.size() != from.size()) return false;
  combine(shape, into.bytes(), from.bytes());
  return true;
}

}  // namespace quire::sync
