// SPDX-License-Identifier: BSD-3-Clause
// What threads wait for in libc++ is the library's own, which each node has for itself: a lock and a condition of
// std::call_once, and words beside objects of std::atomic::wait. A thread would not hear of one on another node, or not
// for two seconds. In shared memory it looks at the object instead. libstdc++ calls pthread_once(3) and futex(2).
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

using namespace quire::program;

namespace {

using flag = unsigned long;
constexpr flag not_called = 0, called_now = 1, called = ~flag{0};  // libc++'s numbers, which programs look at

flag load_flag(const volatile flag& f) noexcept { return __atomic_load_n(&f, __ATOMIC_ACQUIRE); }

/// False: another thread has done it.
bool begin_call(volatile flag& f) noexcept {
  for (;;) {
    flag now = load_flag(f);
    if (now == called) return false;
    if (now == not_called &&
        __atomic_compare_exchange_n(&f, &now, called_now, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return true;
    (void)!wait_until([&f] { return load_flag(f) != called_now; });
  }
}

using call_function = void(volatile flag&, void*, void (*)(void*));

}  // namespace

/// std::__1::__call_once(unsigned long volatile&, void*, void (*)(void*))
QUIRE_LIBC void _ZNSt3__111__call_onceERVmPvPFvS2_E(volatile flag& f, void* argument, void (*body)(void*)) {
  if (!is_for_all_nodes(const_cast<flag*>(&f)))
    return QUIRE_NEXT_AS(call_function, "_ZNSt3__111__call_onceERVmPvPFvS2_E")(f, argument, body);
  if (!begin_call(f)) return;
  struct end {
    volatile flag& f;
    flag after = not_called;  ///< an exception
    ~end() { __atomic_store_n(&f, after, __ATOMIC_RELEASE); }
  } at_end{f};
  body(argument);
  at_end.after = called;
}

namespace {

/// The caller looks before it waits, and after.
bool has_waited(const volatile void* at) noexcept {
  if (!is_for_all_nodes(const_cast<const void*>(at))) return false;
  const one_more_waits here;
  sleep_a_little(here.longest_ns());
  return true;
}

using wait_function = void(const volatile void*, int);

}  // namespace

/// std::__1::__libcpp_atomic_wait, of any object and of a 32-bit number.
#define QUIRE_ATOMIC_WAIT(name)                             \
  QUIRE_LIBC void name(const volatile void* at, int seen) { \
    if (has_waited(at)) return;                             \
    QUIRE_NEXT_AS(wait_function, #name)(at, seen);          \
  }
QUIRE_ATOMIC_WAIT(_ZNSt3__120__libcpp_atomic_waitEPVKvi)
QUIRE_ATOMIC_WAIT(_ZNSt3__120__libcpp_atomic_waitEPVKNS_17__cxx_atomic_implIiNS_22__cxx_atomic_base_implIiEEEEi)
