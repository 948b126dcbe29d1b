// SPDX-License-Identifier: BSD-3-Clause
// Signals of the program: handlers of SIGSEGV and SIGBUS that come after the start, handlers of others while a thread
// waits, and stacks on which faults come. `signals_program CASE`; signals_test.cpp knows how each case must end.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include <atomic>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096, pages = 64;
char* g_memory = nullptr;
void* volatile g_null = nullptr;
std::atomic<int> g_faults{0};
std::atomic<double> g_handled_at{0};

/// Pages that are on node 0: node 1 faults on each.
char* memory_of_node_0() {
  g_memory = shared_region<char>("memory", page * pages, region_options(page, QUIRE_PLACE_NODE, 0));
  if (quire_node() == 0) std::memset(g_memory, 1, page * pages);
  barrier();
  return g_memory;
}
void share() {
  static int round = 0;
  barrier();
  if (quire_node() == 0) std::memset(g_memory, ++round, page * pages);
  barrier();
  int sum = 0;
  for (std::size_t i = 0; i < pages; ++i) sum += g_memory[i * page];
  if (quire_node() != 0) ++round;
  REQUIRE_EQUAL(sum, round * static_cast<int>(pages));
  barrier();
}
void set_handler(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0, bool fills_mask = false) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  if (fills_mask) sigfillset(&action.sa_mask);
  REQUIRE(::sigaction(signal, &action, nullptr) == 0);
}
void alarm_after(int ms) {
  const itimerval once{{0, 0}, {ms / 1000, ms % 1000 * 1000}};
  REQUIRE(::setitimer(ITIMER_REAL, &once, nullptr) == 0);
}

sigjmp_buf g_back;
/// A program that looks whether addresses can be read, again and again: its handler jumps out. signal() and sigaction()
/// agree.
void probes() {
  memory_of_node_0();
  set_handler(SIGSEGV, [](int, siginfo_t* info, void*) {
    REQUIRE(info->si_addr == nullptr);
    ++g_faults;
    ::siglongjmp(g_back, 1);
  });
  for (int i = 0; i < 5; ++i) {
    if (sigsetjmp(g_back, 1) == 0) {
      *static_cast<volatile int*>(g_null) = 1;
      REQUIRE(!"a write to NULL went on");
    }
    share();
  }
  REQUIRE_EQUAL(g_faults, 5);
  const auto plain = +[](int) { ::siglongjmp(g_back, 1); };
  REQUIRE(::signal(SIGSEGV, plain) != SIG_ERR);
  struct sigaction seen {};
  REQUIRE(::sigaction(SIGSEGV, nullptr, &seen) == 0 && seen.sa_handler == plain);
  REQUIRE(::signal(SIGBUS, SIG_IGN) == SIG_DFL && ::signal(SIGBUS, SIG_DFL) == SIG_IGN);
  if (sigsetjmp(g_back, 1) == 0) *static_cast<volatile int*>(g_null) = 1;
  share();
}
/// A handler that itself shares memory, with everything blocked, and then ends the program as it would have ended.
void reports() {
  memory_of_node_0();
  set_handler(
      SIGSEGV,
      [](int signal, siginfo_t*, void*) {
        int sum = 0;
        for (std::size_t i = 0; i < pages; ++i) sum += g_memory[i * page];
        std::printf("reported %d\n", sum);
        std::fflush(stdout);
        ::signal(signal, SIG_DFL);
        ::raise(signal);
      },
      0, true);
  barrier();
  if (quire_node() == 1) *static_cast<volatile int*>(g_null) = 1;
  (void)quire_barrier_wait(quire_barrier{0});
}
/// A handler that faults is not asked again.
void faults_in_its_handler() {
  memory_of_node_0();
  set_handler(SIGSEGV, [](int, siginfo_t*, void*) {
    ++g_faults;
    *static_cast<volatile int*>(g_null) = 2;
  });
  if (quire_node() == 1) *static_cast<volatile int*>(g_null) = 1;
  (void)quire_barrier_wait(quire_barrier{0});
}
/// Once only.
void handles_once() {
  memory_of_node_0();
  set_handler(
      SIGSEGV,
      [](int, siginfo_t*, void*) {
        std::printf("once\n");
        std::fflush(stdout);
      },
      SA_RESETHAND);
  if (quire_node() == 1) *static_cast<volatile int*>(g_null) = 1;
  (void)quire_barrier_wait(quire_barrier{0});
}

void notes_time(int, siginfo_t*, void*) { g_handled_at = now_seconds(); }

/// Node 1 waits, with an alarm; node 0 lets it wait for a second. The handler runs before the wait ends, which ends
/// well.
void handled_while_waiting(const std::string& in) {
  memory_of_node_0();
  double* const released = shared_object<double>("released");
  auto* const mutex = shared_object<quire_mutex>("mutex");
  if (quire_node() == 0) {
    REQUIRE_OK(quire_mutex_create(mutex));
    REQUIRE_OK(quire_mutex_lock(*mutex));
    if (in == "fault") REQUIRE_OK(quire_pin(g_memory, page, -1, nullptr));
  }
  set_handler(SIGALRM, notes_time);
  barrier();
  if (quire_node() == 0) {
    sleep_ms(1000);
    *released = now_seconds();
    if (in == "fault") REQUIRE_OK(quire_unpin(g_memory, page));
    REQUIRE_OK(quire_mutex_unlock(*mutex));
    if (in == "barrier") barrier();
  } else {
    alarm_after(200);
    if (in == "barrier") barrier();
    if (in == "lock") REQUIRE_OK(quire_mutex_lock(*mutex));
    if (in == "fault") REQUIRE_EQUAL(*static_cast<volatile char*>(g_memory), 1);
    REQUIRE(g_handled_at > 0);
    REQUIRE(g_handled_at < *released);
    if (in == "lock") REQUIRE_OK(quire_mutex_unlock(*mutex));
  }
  barrier();
}
/// Neither Quire nor the transport has a handler for what ends programs: a terminal that closes ends a node.
void nothing_is_handled() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE}) {
    struct sigaction now {};
    REQUIRE(::sigaction(signal, nullptr, &now) == 0);
    REQUIRE(now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
  }
}
/// Without a handler the signal ends the node, also in the middle of a fault.
void ends_while_faulting() {
  memory_of_node_0();
  if (quire_node() == 0) REQUIRE_OK(quire_pin(g_memory, page, -1, nullptr));
  barrier();
  if (quire_node() == 1) {
    alarm_after(200);
    (void)*static_cast<volatile char*>(g_memory);
  }
  (void)quire_barrier_wait(quire_barrier{0});
}

/// A coroutine whose stack is shared memory, of which node 0 takes the pages away all the time.
ucontext_t g_outside, g_coroutine;
std::uint64_t g_sum = 0;
[[gnu::noinline]] std::uint64_t deep(int levels) {
  volatile char frame[600] = {};
  frame[levels % 600] = static_cast<char>(levels);
  const std::uint64_t below = levels == 0 ? 0 : deep(levels - 1);
  return below + static_cast<std::uint64_t>(static_cast<unsigned char>(frame[levels % 600]));
}
void on_shared_stack() {
  for (int i = 0; i < 20; ++i) {
    g_sum += deep(200);
    ::swapcontext(&g_coroutine, &g_outside);
  }
}
void stack_is_shared() {
  memory_of_node_0();
  auto* const over = shared_object<std::uint64_t>("over");
  if (quire_node() == 0) {
    while (std::atomic_ref(*over).load() == 0) {
      for (std::size_t i = 0; i < pages; ++i)
        std::atomic_ref(*reinterpret_cast<std::uint64_t*>(g_memory + i * page)).fetch_add(0);
      sleep_ms(1);
    }
  } else {
    const auto run = [&] {
      g_sum = 0;
      REQUIRE(::getcontext(&g_coroutine) == 0);
      g_coroutine.uc_stack.ss_sp = g_memory;
      g_coroutine.uc_stack.ss_size = page * pages;
      g_coroutine.uc_link = nullptr;
      ::makecontext(&g_coroutine, on_shared_stack, 0);
      for (int i = 0; i < 20; ++i) {
        ::swapcontext(&g_outside, &g_coroutine);
        sleep_ms(5);
      }
      std::uint64_t once = 0;
      for (int i = 0; i <= 200; ++i) once += static_cast<std::uint64_t>(i);
      REQUIRE_EQUAL(g_sum, 20 * once);
    };
    run();
    std::thread(run).join();
    std::atomic_ref(*over).store(1);
  }
  barrier();
}
/// The same of a thread that has never faulted: what it needs to start is here, and its stack's other pages are at node
/// 0.
void first_fault_on_shared_stack() {
  memory_of_node_0();
  if (quire_node() == 1) {
    REQUIRE(::getcontext(&g_coroutine) == 0);
    g_coroutine.uc_stack.ss_sp = g_memory;
    g_coroutine.uc_stack.ss_size = page * pages;
    g_coroutine.uc_link = nullptr;
    ::makecontext(&g_coroutine, on_shared_stack, 0);
    std::thread([] { ::swapcontext(&g_outside, &g_coroutine); }).join();
    REQUIRE(g_sum != 0);
  }
  barrier();
}
/// A thread of libc cannot have one.
void thread_on_shared_stack() {
  memory_of_node_0();
  if (quire_node() == 1) {
    pthread_attr_t about;
    pthread_t thread;
    REQUIRE(::pthread_attr_init(&about) == 0 && ::pthread_attr_setstack(&about, g_memory, page * pages) == 0);
    REQUIRE_EQUAL(::pthread_create(
                      &thread, &about, [](void*) -> void* { return nullptr; }, nullptr),
                  EINVAL);
  }
  barrier();
}
/// The program has an alternate stack of its own, too small to serve faults on, and what lies below it stays as it is.
void small_alternate_stack() {
  memory_of_node_0();
  const auto bytes = static_cast<std::size_t>(SIGSTKSZ);
  std::vector<char> block(bytes + 256 * 1024, 'x');
  const stack_t own{block.data() + 256 * 1024, 0, bytes};
  REQUIRE(::sigaltstack(&own, nullptr) == 0);
  static std::atomic<bool> was_there{false};
  set_handler(
      SIGSEGV,
      [](int, siginfo_t*, void*) {
        stack_t now{};
        was_there = ::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_ONSTACK) != 0;
        ::siglongjmp(g_back, 1);
      },
      SA_ONSTACK);
  for (int i = 0; i < 20; ++i) share();
  for (std::size_t i = 0; i < 256 * 1024; ++i) REQUIRE_EQUAL(block[i], 'x');
  if (sigsetjmp(g_back, 1) == 0) *static_cast<volatile int*>(g_null) = 1;
  REQUIRE(was_there);
  const stack_t none{nullptr, SS_DISABLE, 0};
  REQUIRE(::sigaltstack(&none, nullptr) == 0);
  share();
}
/// A handler from before the start that blocks everything, and shares memory.
void handler_from_before() {
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(g_memory + (pages - 1) * page)).fetch_add(1);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "handler_from_before")
    set_handler(
        SIGUSR1, [](int, siginfo_t*, void*) { handler_from_before(); }, 0, true);
  return node_main([&] {
    if (what == "probes") return probes();
    if (what == "reports") return reports();
    if (what == "faults_in_its_handler") return faults_in_its_handler();
    if (what == "handles_once") return handles_once();
    if (what == "barrier" || what == "lock" || what == "fault") return handled_while_waiting(what);
    if (what == "nothing_is_handled") return nothing_is_handled();
    if (what == "ends_while_faulting") return ends_while_faulting();
    if (what == "stack_is_shared") return stack_is_shared();
    if (what == "first_fault_on_shared_stack") return first_fault_on_shared_stack();
    if (what == "thread_on_shared_stack") return thread_on_shared_stack();
    if (what == "small_alternate_stack") return small_alternate_stack();
    if (what == "handler_from_before") {
      memory_of_node_0();
      if (quire_node() == 1) REQUIRE(::raise(SIGUSR1) == 0);
      return barrier();
    }
    fail(__FILE__, __LINE__, "no case '%s'", what.c_str());
  });
}
