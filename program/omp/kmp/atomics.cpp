// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations by calls, which Intel's older compilers make: one operation of the processor's on the shared word,
// tried until nobody was faster. The types that it has none for go by a lock. Not here: operations on two types
// (`..._add_float8`), and on 16 bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "program/job/shared_state.hpp"
#include "program/omp/kmp/abi.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/watch/demotion.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

template <class Type>
struct values {
  Type before, after;
};

template <class Type>
using word_of =
    std::conditional_t<sizeof(Type) == 1, std::uint8_t,
                       std::conditional_t<sizeof(Type) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(Type) == 4, std::uint32_t, std::uint64_t>>>;

template <class Type, class Operation>
values<Type> update(Type* at, Operation&& operation) noexcept {
  if constexpr (sizeof(Type) > sizeof(std::uint64_t)) {
    lock(shared().atomics);
    const values<Type> v{*at, operation(*at)};
    *at = v.after;
    unlock(shared().atomics);
    return v;
  } else {
    using word = word_of<Type>;
    watch::before_update(at);
    auto* const bits = reinterpret_cast<word*>(at);
    word now = __atomic_load_n(bits, __ATOMIC_RELAXED), then = 0;
    values<Type> v{};
    do {
      std::memcpy(static_cast<void*>(&v.before), &now, sizeof now);
      v.after = operation(v.before);
      std::memcpy(static_cast<void*>(&then), &v.after, sizeof then);
    } while (!__atomic_compare_exchange_n(bits, &now, then, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return v;
  }
}

/// What the compiler's function makes of both; it writes through its first argument.
using three_way_function = void (*)(void* result, void* left, void* right);
template <class Type>
void combine(void* at, void* right, three_way_function by) noexcept {
  update(static_cast<Type*>(at), [&](Type old) {
    Type result = old;
    by(&result, &old, right);
    return result;
  });
}

}  // namespace

/// `x` is the old value, `y` the argument. The second function returns the new value, or the old one.
#define QUIRE_ATOMIC(type_name, type, operation, expression)                                                   \
  QUIRE_KMP void __kmpc_atomic_##type_name##_##operation(source*, id, type* at, type y) {                      \
    update(at, [&](type x) { return static_cast<type>(expression); });                                         \
  }                                                                                                            \
  QUIRE_KMP type __kmpc_atomic_##type_name##_##operation##_cpt(source*, id, type* at, type y, int wants_new) { \
    const auto v = update(at, [&](type x) { return static_cast<type>(expression); });                          \
    return wants_new != 0 ? v.after : v.before;                                                                \
  }
/// And with the operands exchanged.
#define QUIRE_ATOMIC_REV(type_name, type, operation, expression)                                                   \
  QUIRE_KMP void __kmpc_atomic_##type_name##_##operation##_rev(source*, id, type* at, type y) {                    \
    update(at, [&](type x) { return static_cast<type>(expression); });                                             \
  }                                                                                                                \
  QUIRE_KMP type __kmpc_atomic_##type_name##_##operation##_cpt_rev(source*, id, type* at, type y, int wants_new) { \
    const auto v = update(at, [&](type x) { return static_cast<type>(expression); });                              \
    return wants_new != 0 ? v.after : v.before;                                                                    \
  }
#define QUIRE_ATOMIC_VALUE(type_name, type)                                       \
  QUIRE_KMP type __kmpc_atomic_##type_name##_rd(source*, id, type* at) {          \
    return update(at, [](type x) { return x; }).before;                           \
  }                                                                               \
  QUIRE_KMP void __kmpc_atomic_##type_name##_wr(source*, id, type* at, type y) {  \
    update(at, [&](type) { return y; });                                          \
  }                                                                               \
  QUIRE_KMP type __kmpc_atomic_##type_name##_swp(source*, id, type* at, type y) { \
    return update(at, [&](type) { return y; }).before;                            \
  }

#define QUIRE_ATOMIC_ARITHMETIC(type_name, type) \
  QUIRE_ATOMIC(type_name, type, add, x + y)      \
  QUIRE_ATOMIC(type_name, type, sub, x - y)      \
  QUIRE_ATOMIC(type_name, type, mul, x* y)       \
  QUIRE_ATOMIC(type_name, type, div, x / y)      \
  QUIRE_ATOMIC_REV(type_name, type, sub, y - x)  \
  QUIRE_ATOMIC_REV(type_name, type, div, y / x)  \
  QUIRE_ATOMIC_VALUE(type_name, type)
#define QUIRE_ATOMIC_ORDER(type_name, type)          \
  QUIRE_ATOMIC(type_name, type, max, std::max(x, y)) \
  QUIRE_ATOMIC(type_name, type, min, std::min(x, y))
#define QUIRE_ATOMIC_BITS(bytes, type, unsigned_type)          \
  QUIRE_ATOMIC_ARITHMETIC(fixed##bytes, type)                  \
  QUIRE_ATOMIC_ORDER(fixed##bytes, type)                       \
  QUIRE_ATOMIC(fixed##bytes, type, andb, x& y)                 \
  QUIRE_ATOMIC(fixed##bytes, type, orb, x | y)                 \
  QUIRE_ATOMIC(fixed##bytes, type, xor, x ^ y)                 \
  QUIRE_ATOMIC(fixed##bytes, type, andl, x&& y)                \
  QUIRE_ATOMIC(fixed##bytes, type, orl, x || y)                \
  QUIRE_ATOMIC(fixed##bytes, type, neqv, x ^ y)                \
  QUIRE_ATOMIC(fixed##bytes, type, eqv, ~(x ^ y))              \
  QUIRE_ATOMIC(fixed##bytes, type, shl, x << y)                \
  QUIRE_ATOMIC(fixed##bytes, type, shr, x >> y)                \
  QUIRE_ATOMIC_REV(fixed##bytes, type, shl, y << x)            \
  QUIRE_ATOMIC_REV(fixed##bytes, type, shr, y >> x)            \
  QUIRE_ATOMIC(fixed##bytes##u, unsigned_type, div, x / y)     \
  QUIRE_ATOMIC(fixed##bytes##u, unsigned_type, shr, x >> y)    \
  QUIRE_ATOMIC_REV(fixed##bytes##u, unsigned_type, div, y / x) \
  QUIRE_ATOMIC_REV(fixed##bytes##u, unsigned_type, shr, y >> x)
QUIRE_ATOMIC_BITS(1, std::int8_t, std::uint8_t)
QUIRE_ATOMIC_BITS(2, std::int16_t, std::uint16_t)
QUIRE_ATOMIC_BITS(4, std::int32_t, std::uint32_t)
QUIRE_ATOMIC_BITS(8, std::int64_t, std::uint64_t)
QUIRE_ATOMIC_ARITHMETIC(float4, float)
QUIRE_ATOMIC_ORDER(float4, float)
QUIRE_ATOMIC_ARITHMETIC(float8, double)
QUIRE_ATOMIC_ORDER(float8, double)
QUIRE_ATOMIC_ARITHMETIC(float10, long double)

// Of any type, by a function of the compiler's.
QUIRE_KMP void __kmpc_atomic_1(source*, id, void* at, void* right, three_way_function by) {
  combine<std::uint8_t>(at, right, by);
}
QUIRE_KMP void __kmpc_atomic_2(source*, id, void* at, void* right, three_way_function by) {
  combine<std::uint16_t>(at, right, by);
}
QUIRE_KMP void __kmpc_atomic_4(source*, id, void* at, void* right, three_way_function by) {
  combine<std::uint32_t>(at, right, by);
}
QUIRE_KMP void __kmpc_atomic_8(source*, id, void* at, void* right, three_way_function by) {
  combine<std::uint64_t>(at, right, by);
}
