// SPDX-License-Identifier: BSD-3-Clause
#include "sync/combine.hpp"

#include <cstring>

namespace quire::sync {
namespace {

template <class T>
T combined(quire_operation how, T a, T b) noexcept {
  switch (how) {
    case QUIRE_MIN: return b < a ? b : a;
    case QUIRE_MAX: return a < b ? b : a;
    case QUIRE_PRODUCT: return a * b;
    default: return a + b;
  }
}

/// Overflow wraps, as in the machine, and is no undefined behaviour.
std::int64_t combined(quire_operation how, std::int64_t a, std::int64_t b) noexcept {
  if (how == QUIRE_MIN || how == QUIRE_MAX) return combined<std::int64_t>(how, a, b);
  return static_cast<std::int64_t>(
      combined<std::uint64_t>(how, static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

template <class T>
void combine_each(quire_operation how, std::span<std::byte> into, std::span<const std::byte> from) noexcept {
  for (std::size_t at = 0; at + sizeof(T) <= into.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, &into[at], sizeof a);
    std::memcpy(&b, &from[at], sizeof b);
    a = combined(how, a, b);
    std::memcpy(&into[at], &a, sizeof a);
  }
}

}  // namespace

bool combine(call_shape shape, value& into, const value& from) noexcept {
  if (shape.what == operation::broadcast) {  // one of them is empty, but for the root's way up
    if (into.empty()) into = from;
    return true;
  }
  if (into.size() != from.size()) return false;
  if (shape.what == operation::reduce_f64) combine_each<double>(shape.how, into.bytes(), from.bytes());
  if (shape.what == operation::reduce_i64) combine_each<std::int64_t>(shape.how, into.bytes(), from.bytes());
  return true;
}

}  // namespace quire::sync
