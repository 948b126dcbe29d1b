// SPDX-License-Identifier: BSD-3-Clause
// Out of a fault to the start of a function: detect::redirect_faults_by() and os::restart_point. Compiled with -O2,
// whatever the other tests are compiled with: what is kept in registers must be right.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cfenv>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "detect/detector.hpp"
#include "detect/redirection.hpp"
#include "os/memory.hpp"
#include "os/restart_point.hpp"

namespace quire::restart_test {
namespace {

using os::restart_point;
constexpr std::size_t page_bytes = os::page_bytes;

/// What a thread in a doomed transaction would have: its next fault restarts it.
struct attempt {
  restart_point point{};
  bool doomed = false;
  unsigned redirected = 0;
  // As the function saw it that the fault was redirected to.
  std::uintptr_t stack = 0;
  std::uint64_t flags = 0;
  std::uint16_t x87_tags = 0;
  std::uint64_t upper = 0;  ///< of a vector
  sigset_t mask{};
  // Of a stack that is said to be in shared memory: made inaccessible below the interrupted frame.
  std::byte* closed = nullptr;
  std::size_t closed_bytes = 0;
};
thread_local constinit attempt* t_attempt __attribute__((tls_model("initial-exec"))) = nullptr;
std::byte* g_page = nullptr;  ///< an access faults
std::atomic<unsigned> g_faults{0};
std::atomic<std::uintptr_t> g_stack{0}, g_stack_end{0};  ///< addresses that are shared

std::atomic<bool> g_lets_in{false};  ///< the next fault lets a signal in, whose handler faults
std::atomic<unsigned> g_asked{0};

void close_page() noexcept { (void)!os::protect(g_page, page_bytes, PROT_NONE); }

bool on_fault(std::uint64_t address, bool) noexcept {
  if (address - reinterpret_cast<std::uint64_t>(g_page) >= page_bytes) return false;
  g_faults.fetch_add(1);
  if (g_lets_in.exchange(false)) {
    const detect::signals_let_in now;
    ::raise(SIGUSR1);
  }
  return os::protect(g_page, page_bytes, PROT_READ | PROT_WRITE) == 0;
}

/// The start of a function, as the compiler has it: what it is called with is looked at before it changes anything.
[[gnu::noinline]] void restart() noexcept {
  attempt& self = *t_attempt;
  if (self.closed != nullptr) (void)!os::protect(self.closed, self.closed_bytes, PROT_READ | PROT_WRITE);
  self.closed = nullptr;
  self.stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#if defined(__x86_64__)
  self.flags = __builtin_ia32_readeflags_u64();
  struct {
    std::uint16_t control, a, status, b, tags, rest[9];
  } x87{};
  asm volatile("fnstenv %0\n\tfldenv %0" : "+m"(x87));
  self.x87_tags = x87.tags;
  if (__builtin_cpu_supports("avx")) {
    asm volatile("vextractf128 $1, %%ymm5, %%xmm5\n\tvmovq %%xmm5, %0\n\tvzeroupper" : "=r"(self.upper)::"xmm5");
  }
#endif
  ::pthread_sigmask(SIG_BLOCK, nullptr, &self.mask);
  ++self.redirected;
  close_page();
  self.point.go_back();
}

detect::redirection to_restart() noexcept {
  g_asked.fetch_add(1);
  attempt* const self = t_attempt;
  if (self == nullptr || !self->doomed) return nullptr;
  self->doomed = false;
  if (self->closed != nullptr) (void)!os::protect(self->closed, self->closed_bytes, PROT_NONE);
  return restart;
}

[[gnu::noinline]] int touch() { return std::to_integer<int>(*const_cast<volatile std::byte*>(g_page)); }

class restarts : public testing::Test {
 protected:
  void SetUp() override {
    int error = 0;
    g_page = static_cast<std::byte*>(os::map_table(page_bytes, error));
    ASSERT_NE(g_page, nullptr);
    close_page();
    g_faults = 0;
    g_stack = g_stack_end = 0;
    g_asked = 0;
    detect::redirect_faults_by(to_restart);
    ASSERT_TRUE(detect::install_signals(on_fault, nullptr, [](std::uint64_t address) noexcept {
                  return address >= g_stack && address < g_stack_end;
                }).ok());
    t_attempt = &self_;
  }
  void TearDown() override {
    t_attempt = nullptr;
    detect::remove_signals();
    detect::redirect_faults_by(nullptr);
    os::unmap(g_page, page_bytes);
  }
  attempt self_{};
};

[[gnu::noinline]] int nested(int depth, const std::string& text) {
  volatile char room[200] = {};
  room[static_cast<std::size_t>(depth)] = 1;
  if (depth == 0) return touch() + static_cast<int>(text.size());
  const int below = nested(depth - 1, text);
  return below + room[static_cast<std::size_t>(depth)];
}

TEST_F(restarts, thread_that_is_not_doomed_goes_on) {
  int calls = 0;
  const int given = self_.point.run([&] { return ++calls, nested(10, "abc"); });
  EXPECT_EQ(given, 13);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(g_faults, 1u);
  EXPECT_EQ(self_.redirected, 0u);
}

TEST_F(restarts, out_of_nested_frames_a_thousand_times) {
  int calls = 0, sum = 0;
  const std::string text = "a text that is longer than what strings keep within themselves";
  const int given = self_.point.run([&] {
    self_.doomed = ++calls <= 1000;
    sum += calls;
    return nested(calls % 40, text);
  });
  EXPECT_EQ(calls, 1001);
  EXPECT_EQ(self_.redirected, 1000u);
  EXPECT_EQ(g_faults, 1001u);
  EXPECT_EQ(sum, 1001 * 1002 / 2) << "memory is not rolled back";
  EXPECT_EQ(given, 1001 % 40 + static_cast<int>(text.size()));
}

/// Values of the frame around run(), more than there are registers that functions keep.
[[gnu::noinline]] std::uint64_t around(attempt& self, std::uint64_t seed, double real) {
  std::uint64_t a = seed * 3, b = seed ^ 0x1234567, c = seed << 7, d = ~seed, e = seed + 99, f = seed * seed,
                g = seed / 3, h = seed % 1001;
  double x = real * 2, y = real / 3, z = real + 7;
  unsigned calls = 0;
  for (unsigned i = 0; i < 3; ++i) {
    self.point.run([&] {
      std::uint64_t noise[16];  // fills the registers that functions keep with other things
      for (unsigned n = 0; n < 16; ++n) noise[n] = seed * n + calls;
      self.doomed = ++calls % 3 != 0;
      close_page();
      const int got = touch();
      std::uint64_t all = static_cast<std::uint64_t>(got);
      for (const std::uint64_t n : noise) all = all * 31 + n;
      asm volatile("" ::"r"(all));
    });
    a += b, b ^= c, c += d, d -= e, e ^= f, f += g, g ^= h, h += a;
    x += y, y *= 1.5, z -= x;
  }
  return (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h) + calls + static_cast<std::uint64_t>((x + y - z) * 16);
}

std::uint64_t around_without(std::uint64_t seed, double real) {
  std::uint64_t a = seed * 3, b = seed ^ 0x1234567, c = seed << 7, d = ~seed, e = seed + 99, f = seed * seed,
                g = seed / 3, h = seed % 1001;
  double x = real * 2, y = real / 3, z = real + 7;
  for (unsigned i = 0; i < 3; ++i) {
    a += b, b ^= c, c += d, d -= e, e ^= f, f += g, g ^= h, h += a;
    x += y, y *= 1.5, z -= x;
  }
  return (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h) + 9 + static_cast<std::uint64_t>((x + y - z) * 16);
}

TEST_F(restarts, values_of_the_frame_around_stay) {
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    const double real = 0.25 * static_cast<double>(seed);
    EXPECT_EQ(around(self_, seed, real), around_without(seed, real));
  }
  EXPECT_EQ(self_.redirected, 99u * 6);
}

TEST_F(restarts, inside_a_handler_of_an_exception) {
  int calls = 0;
  self_.point.run([&] {
    EXPECT_EQ(std::current_exception(), nullptr);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    self_.doomed = ++calls <= 20;
    try {
      throw std::runtime_error("one");
    } catch (const std::exception&) {
      try {
        throw 2;
      } catch (int) {
        touch();
      }
    }
  });
  EXPECT_EQ(calls, 21);
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  EXPECT_THROW(throw std::logic_error("as ever"), std::logic_error);
}

struct touches {
  ~touches() { touch(); }
};

TEST_F(restarts, while_an_exception_is_on_its_way) {
  int calls = 0;
  self_.point.run([&] {
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    self_.doomed = ++calls <= 20;
    try {
      const touches here{};
      throw std::runtime_error("one");
    } catch (const std::exception&) {
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
  });
  EXPECT_EQ(calls, 21);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

struct counted {
  explicit counted(int& of) : left(&of) { ++*left; }
  counted(const counted& other) noexcept : left(other.left) { ++*left; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*left; }
  int* left;
};

TEST_F(restarts, within_the_handler_of_an_exception_that_is_thrown_again) {
  int calls = 0, left = 0;
  try {
    throw counted(left);
  } catch (const counted& outer) {
    const auto before = std::current_exception();
    self_.point.run([&] {
      EXPECT_EQ(std::current_exception(), before);
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      self_.doomed = ++calls <= 20;
      try {
        const touches on_its_way{};
        throw;
      } catch (const counted& again) {
        EXPECT_EQ(&again, &outer);
      }
      self_.doomed = calls % 2 == 1 && calls <= 20;
      close_page();
      try {
        throw;
      } catch (const counted&) {
        touch();
      }
    });
    EXPECT_EQ(std::current_exception(), before);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  }
  EXPECT_EQ(calls, 21);
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(left, 0) << "the exception around is freed at the end of its handler";
}

TEST_F(restarts, handler_of_an_exception_that_was_thrown_again_in_a_handler) {
  int calls = 0, left = 0;
  try {
    throw counted(left);
  } catch (const counted&) {
    self_.point.run([&] {
      self_.doomed = ++calls <= 5;
      try {
        throw;
      } catch (const counted&) {
        touch();
      }
    });
  }
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(left, 0);
}

struct on_stack {
  attempt self{};
  std::byte* stack = nullptr;
  std::size_t bytes = 256 * 1024;
  bool shared = false;
  int calls = 0, given = 0;
};

/// A thread on a stack of the test's, by itself as the signal's handler, and as nothing is known of it: it has no
/// alternate stack before.
void on_a_stack(on_stack& about) {
  int error = 0;
  about.stack = static_cast<std::byte*>(os::map_table(about.bytes, error));
  ASSERT_NE(about.stack, nullptr);
  if (about.shared) {
    g_stack = reinterpret_cast<std::uintptr_t>(about.stack);
    g_stack_end = g_stack + about.bytes;
  }
  pthread_attr_t how;
  pthread_attr_init(&how);
  ASSERT_EQ(pthread_attr_setstack(&how, about.stack, about.bytes), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &how,
                [](void* at) -> void* {
                  auto& of = *static_cast<on_stack*>(at);
                  t_attempt = &of.self;
                  detect::prepare_thread();
                  of.given = of.self.point.run([&] {
                    of.self.doomed = ++of.calls <= 100;
                    if (of.shared) {  // all below what this frame and the next few need
                      const auto here =
                          reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / page_bytes * page_bytes -
                          4 * page_bytes;
                      of.self.closed_bytes = here - reinterpret_cast<std::uintptr_t>(of.stack);
                      of.self.closed = of.self.doomed ? of.stack : nullptr;
                    }
                    return nested(of.calls % 5, "abc");
                  });
                  return nullptr;
                },
                &about),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&how);
  EXPECT_EQ(about.calls, 101);
  EXPECT_EQ(about.self.redirected, 100u);
  EXPECT_EQ(about.given, 101 % 5 + 3);
  os::unmap(about.stack, about.bytes);
}

TEST_F(restarts, on_a_stack_of_the_program) {
  on_stack about;
  on_a_stack(about);
  EXPECT_LT(about.self.stack - reinterpret_cast<std::uintptr_t>(about.stack), about.bytes)
      << "what the fault is redirected to runs on the thread's stack";
}

TEST_F(restarts, on_a_stack_in_shared_memory) {
  on_stack about;
  about.shared = true;
  on_a_stack(about);
  EXPECT_GE(about.self.stack - reinterpret_cast<std::uintptr_t>(about.stack), about.bytes)
      << "its pages may be elsewhere";
}

TEST_F(restarts, where_the_alternate_stack_of_the_program_is_small) {
  std::vector<char> small(32 * 1024);
  const stack_t now{small.data(), 0, small.size()};
  stack_t before{};
  ASSERT_EQ(::sigaltstack(&now, &before), 0);
  int calls = 0;
  const int given = self_.point.run([&] {
    self_.doomed = ++calls <= 100;
    return nested(calls % 5, "abc");
  });
  EXPECT_EQ(::sigaltstack(&before, nullptr), 0);
  EXPECT_EQ(given, 101 % 5 + 3);
  EXPECT_EQ(self_.redirected, 100u);
}

TEST_F(restarts, signals_stay_blocked_as_they_were) {
  sigset_t before, blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  int calls = 0;
  self_.point.run([&] {
    self_.doomed = ++calls <= 3;
    touch();
  });
  sigset_t now;
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, &now), 0);
  EXPECT_EQ(calls, 4);
  for (const sigset_t* mask : {&self_.mask, &now}) {
    EXPECT_EQ(sigismember(mask, SIGUSR1), 1);
    for (const int other : {SIGUSR2, SIGALRM, SIGSEGV, SIGBUS, SIGTERM})
      EXPECT_EQ(sigismember(mask, other), 0) << other;
  }
}

/// A handler of the program that runs within a fault may fault too; the way back is from the outer fault only.
TEST_F(restarts, fault_within_a_fault_is_not_redirected) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP()
      << "the sanitizer's alternate stack is small: the fault is served on another one, and signals wait for its end";
#endif
  struct sigaction inner {
  }, before{};
  inner.sa_handler = [](int) {
    touch();
    close_page();
  };
  ASSERT_EQ(::sigaction(SIGUSR1, &inner, &before), 0);
  int calls = 0;
  unsigned asked = 0;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  self_.point.run([&] {
    self_.doomed = ++calls == 1;
    g_lets_in = self_.doomed;
    if (!self_.doomed) asked = g_asked;
    touch();
  });
  EXPECT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
  EXPECT_EQ(g_faults, 3u);
  EXPECT_EQ(asked, 1u);
  EXPECT_EQ(calls, 2);
  EXPECT_LT(here - self_.stack, 64u * 1024) << "on the stack of the thread";
}

TEST_F(restarts, rounding_is_as_at_the_start) {
  ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
  int calls = 0;
  self_.point.run([&] {
    EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    self_.doomed = ++calls <= 3;
    EXPECT_EQ(std::fesetround(FE_UPWARD), 0);
    touch();
    EXPECT_EQ(std::fesetround(FE_DOWNWARD), 0);
  });
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(calls, 4);
}

#if defined(__x86_64__)
TEST_F(restarts, out_of_code_that_uses_all_of_the_processor) {
  int calls = 0;
  volatile long double three = 3;
  volatile double two = 2;
  self_.point.run([&] {
    self_.doomed = ++calls <= 10;
    const long double third = 1 / three;  // not a number, if the x87 stack is full
    EXPECT_EQ(third * 3, 1);
    if (self_.doomed) {
      if (__builtin_cpu_supports("avx"))
        asm volatile("vxorps %%ymm5, %%ymm5, %%ymm5\n\tvcmpps $0, %%ymm5, %%ymm5, %%ymm5" ::: "xmm5");
      asm volatile(
          "fld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\t"
          "pcmpeqd %%xmm0, %%xmm0\n\tmovaps %%xmm0, %%xmm7\n\tmovaps %%xmm0, %%xmm15\n\t"
          "std\n\t"
          "movb (%0), %%al\n\t"
          "cld\n\t"
          "fninit" ::"r"(g_page)
          : "rax", "xmm0", "xmm7", "xmm15", "memory", "cc");
    } else {
      touch();
    }
  });
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(self_.redirected, 10u);
  EXPECT_EQ(self_.x87_tags, 0xffff) << "no x87 register is in use";
  EXPECT_EQ(self_.upper, 0u);
  EXPECT_EQ(self_.flags & 0x400, 0u) << "strings go upwards";
  EXPECT_EQ(two * three, 6.0L);
}

/// The frame below begins as one does that was called.
TEST_F(restarts, stack_is_aligned_as_for_a_call) {
  int calls = 0;
  self_.point.run([&] {
    self_.doomed = ++calls <= 16;
    const std::uint64_t lower = 160 + static_cast<std::uint64_t>(calls);
    asm volatile("sub %0, %%rsp\n\tmovb (%1), %%al\n\tadd %0, %%rsp" ::"r"(lower), "r"(g_page) : "rax", "cc", "memory");
    EXPECT_EQ(self_.stack % 16, 0u);  // where the frame pointer is, behind it and the return address
  });
  EXPECT_EQ(calls, 17);
}
#endif

TEST_F(restarts, two_threads_at_a_time) {
  std::array<int, 2> calls{};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&calls, i] {
      const auto self = std::make_unique<attempt>();
      t_attempt = self.get();
      detect::prepare_thread();
      int& mine = calls[static_cast<std::size_t>(i)];
      self->point.run([&] {
        ++mine;
        self->doomed = self->redirected < 200;
        while (self->doomed) {  // the page is open while the other thread has opened it
          touch();
          close_page();
        }
      });
      EXPECT_EQ(self->redirected, 200u);
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(calls, (std::array<int, 2>{201, 201}));
}

TEST(restart_point, gives_what_the_call_that_returns_gives) {
  restart_point here;
  int calls = 0;
  const auto made = here.run([&] {
    EXPECT_TRUE(here.is_running());
    if (++calls < 3) here.go_back();
    return std::make_unique<int>(calls);
  });
  EXPECT_EQ(*made, 3);
  EXPECT_FALSE(here.is_running());
  here.run([&] {
    if (++calls < 6) here.go_back();
  });
  EXPECT_EQ(calls, 6);
}

TEST(restart_point, exceptions_pass) {
  restart_point here;
  int calls = 0;
  EXPECT_THROW(here.run([&] {
    if (++calls < 3) here.go_back();
    throw std::runtime_error("x");
  }),
               std::runtime_error);
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(here.is_running());
  EXPECT_EQ(here.run([] { return 1; }), 1) << "it can be used again";
}

TEST(restart_point, one_within_another) {
  restart_point outer;
  int outer_calls = 0, inner_calls = 0;
  outer.run([&] {
    ++outer_calls;
    restart_point inner;  // which an outer way back leaves behind
    inner.run([&] {
      if (++inner_calls % 3 != 0) inner.go_back();
      if (outer_calls < 3) outer.go_back();
    });
    EXPECT_FALSE(inner.is_running());
  });
  EXPECT_EQ(outer_calls, 3);
  EXPECT_EQ(inner_calls, 9);
}

TEST(restart_point, wrong_use_ends_the_program) {
  restart_point here;
  EXPECT_DEATH(here.go_back(), "running_");
  EXPECT_DEATH(here.run([&] { here.run([] {}); }), "running_");
}

}  // namespace
}  // namespace quire::restart_test
