// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/team/team.hpp"

#include <pthread.h>
#include <quire/quire.h>
#include <sched.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "openmp/memory/stacks.hpp"
#include "openmp/memory/thread_data.hpp"
#include "openmp/start/fail.hpp"
#include "openmp/start/loading.hpp"
#include "openmp/team/barrier.hpp"
#include "openmp/team/plan.hpp"
#include "openmp/team/take.hpp"

namespace quire::openmp {
namespace {

/// Travels as it is. No function: the job is over.
struct command {
  region_function what = nullptr;
  void* data = nullptr;
  std::int32_t threads = 0;
  std::uint32_t only_places = 0; ///< not 0: no region yet, but nodes make places for so many threads
  loop first{};              ///< that its threads are in from the beginning, where the compiler has made one call of both
};
static_assert(sizeof(command) <= 64);

/// A thread of this node that waits for regions. It has the place behind its number among the threads of a team here: the lead is the first.
struct worker {
  std::atomic<std::uint32_t> round{0};  ///< of the last region that it was called to
  std::byte* top = nullptr;
};
constexpr std::size_t most_workers = 4095;

settings g_job;
node_barrier g_barrier;
command g_now;  ///< the region that runs on this node
// No container: what a thread on a shared stack allocates is shared.
std::array<worker, most_workers> g_workers;
std::size_t g_started = 0;
std::atomic<std::uint32_t> g_on_stacks{0};  ///< workers that are on their shared stacks
std::byte* g_lead_top = nullptr;
int g_places = 0;  ///< threads of the last team that places were made for
thread_local context t_me;
thread_local bool t_is_main = false;

context enter(int number, int count, int here, bool spans) noexcept {
  context& c = t_me;
  const context before = c;
  c = {};
  c.number = number;
  c.count = count;
  c.here = here;
  c.spans = spans;
  c.level = before.level + 1;
  c.active_level = before.active_level + (count > 1 ? 1 : 0);
  c.outer_number = before.number;
  c.outer_count = before.count;
  return before;
}

/// A thread's part of a region, from its function to the barrier at its end.
void take_part(int number, const share& mine) noexcept {
  const command now = g_now;
  const int threads = now.threads;
  const context before = enter(number, threads, mine.count, spans_nodes(threads, g_job.nodes));
  t_me.in = now.first;
  now.what(now.data);
  look_at_loaded();
  team_barrier();
  const std::uint64_t counted = t_me.counted;
  t_me = before;
  if (number == 0 && counted != 0) clear_counters(counted);
}

void* live(void* argument) noexcept {
  worker& self = *static_cast<worker*>(argument);
  remember_private_stack();
  for (std::uint32_t round = 0;; ++round) {
    while (self.round.load(std::memory_order_acquire) == round) self.round.wait(round, std::memory_order_acquire);
    call_on(self.top, [](void* at) {
      const share mine = share_of(g_job.node, g_now.threads, g_job.nodes);
      take_part(mine.first + 1 + static_cast<int>(static_cast<worker*>(at) - g_workers.data()), mine);
    }, &self);
    if (g_on_stacks.fetch_sub(1, std::memory_order_acq_rel) == 1) g_on_stacks.notify_all();
  }
}

/// Signals of the process are the main thread's business. A handler that faulted before a thread has its alternate stack would take that away again.
void need_workers(std::size_t count) noexcept {
  if (count > most_workers) fail("a node has too many threads", QUIRE_LIMIT);
  if (g_started >= count) return;
  sigset_t others, before;
  ::sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&others, own);
  ::pthread_sigmask(SIG_BLOCK, &others, &before);
  for (; g_started < count; ++g_started) {
    worker& w = g_workers[g_started];
    w.top = make_stack(g_job.stack_bytes);
    start_thread_at(g_started + 1, live, &w, true);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Node 0, before a region of so many threads.
void need_places(int threads) noexcept {
  if (threads == g_places || has_places(threads)) return;
  g_places = threads;
  command told{nullptr, nullptr, threads, 1, {}};
  if (const quire_status why = quire_broadcast(&told, sizeof told, 0); why != QUIRE_OK) fail("a parallel region cannot begin", why);
  make_places(threads);
}

/// This node's part of a region. The caller is its first thread here.
void run_here(const command& c) noexcept {
  const share mine = share_of(g_job.node, c.threads, g_job.nodes);
  if (mine.count == 0) return;
  g_now = c;
  need_workers(static_cast<std::size_t>(mine.count) - 1);
  g_on_stacks.fetch_add(static_cast<std::uint32_t>(mine.count) - 1, std::memory_order_acq_rel);
  for (int i = 0; i + 1 < mine.count; ++i) {
    worker& w = g_workers[static_cast<std::size_t>(i)];
    w.round.fetch_add(1, std::memory_order_release);
    w.round.notify_one();
  }
  take_part(mine.first, mine);
}

void run_alone(region_function what, void* data, const loop& first) noexcept {
  const context before = enter(0, 1, 1, false);
  t_me.in = first;
  what(data);
  t_me = before;
}

int processors_here() noexcept {
  cpu_set_t mine;
  return ::sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

/// OMP_NUM_THREADS, of which the first number counts; 0: not given.
int threads_asked_for() noexcept {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr || *text == 0) return 0;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  constexpr long most = 65'536;
  if (number >= 1 && number <= most && (*end == 0 || *end == ',' || *end == ' ')) return static_cast<int>(number);
  std::fprintf(stderr, "quire: OpenMP: OMP_NUM_THREADS is \"%s\", which is no number of threads from 1 to %ld; it is not looked at\n", text, most);
  return 0;
}

/// OMP_SCHEDULE: [modifier:]kind[,chunk].
void read_schedule() noexcept {
  const char* text = std::getenv("OMP_SCHEDULE");
  if (text == nullptr || *text == 0) return;
  const char* const whole = text;
  if (const char* const colon = std::strchr(text, ':'); colon != nullptr) text = colon + 1;
  constexpr struct {
    const char* name;
    loop::schedule how;
    std::uint64_t chunk;
  } kinds[] = {{"static", loop::schedule::blocks, 0}, {"dynamic", loop::schedule::taken, 1}, {"guided", loop::schedule::guided, 1}, {"auto", loop::schedule::blocks, 0}};
  for (const auto& k : kinds) {
    const std::size_t length = std::strlen(k.name);
    if (::strncasecmp(text, k.name, length) != 0 || (text[length] != 0 && text[length] != ',')) continue;
    const long chunk = text[length] == ',' ? std::strtol(text + length + 1, nullptr, 10) : 0;
    g_job.schedule = chunk > 0 && k.how == loop::schedule::blocks ? loop::schedule::rounds : k.how;
    g_job.chunk = chunk > 0 ? static_cast<std::uint64_t>(chunk) : k.chunk;
    return;
  }
  std::fprintf(stderr, "quire: OpenMP: OMP_SCHEDULE is \"%s\", which is no schedule; dynamic,1 is taken\n", whole);
}

/// OMP_STACKSIZE: kibibytes, or a number with B, K, M or G.
void read_stack_size() noexcept {
  const char* const text = std::getenv("OMP_STACKSIZE");
  if (text == nullptr || *text == 0) return;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  while (*end == ' ') ++end;
  const char unit = *end == 0 ? 'K' : static_cast<char>(std::toupper(static_cast<unsigned char>(*end)));
  const int shift = unit == 'B' ? 0 : unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : -1;
  constexpr unsigned long long least = 64u << 10, most = 1ull << 36;
  const bool known = end != text && shift >= 0 && number <= most >> shift;
  if (known && number << shift >= least) {
    g_job.stack_bytes = static_cast<std::size_t>((number << shift) + 4095) / 4096 * 4096;
    return;
  }
  std::fprintf(stderr, "quire: OpenMP: OMP_STACKSIZE is \"%s\", which is no size from 64K to 64G; stacks have 8 MiB\n", text);
}

}  // namespace

void begin_main_thread() noexcept { t_is_main = true; }
context& me() noexcept { return t_me; }
settings& job() noexcept { return g_job; }

void open_team() {
  g_job.node = quire_node();
  g_job.nodes = quire_nodes();
  std::int64_t processors = processors_here();
  if (const quire_status why = quire_reduce_i64(&processors, 1, QUIRE_SUM); why != QUIRE_OK) fail("nodes cannot agree on their processors", why);
  std::int64_t asked = threads_asked_for();
  if (const quire_status why = quire_broadcast(&asked, sizeof asked, 0); why != QUIRE_OK) fail("nodes cannot agree on their threads", why);
  read_schedule();
  read_stack_size();
  struct {
    loop::schedule how;
    std::uint64_t chunk;
  } schedule{g_job.schedule, g_job.chunk};
  if (const quire_status why = quire_broadcast(&schedule, sizeof schedule, 0); why != QUIRE_OK) fail("nodes cannot agree on their schedule", why);
  g_job.schedule = schedule.how;
  g_job.chunk = schedule.chunk;
  g_job.processors = static_cast<int>(processors);
  g_job.threads = asked != 0 ? static_cast<int>(asked) : g_job.processors;
}

/// The master runs one page below the data that it hands over, lest its own frames take that page from who reads it.
void run_region(region_function what, void* data, unsigned threads, const loop& first) noexcept {
  look_at_loaded();
  const int wanted = threads != 0 ? static_cast<int>(threads) : g_job.threads;
  const bool begins = t_me.level == 0 && t_is_main && on_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  if (wanted == 1 || !begins) return run_alone(what, data, first);
  const command c{what, data, wanted, 0, first};
  need_places(wanted);
  if (spans_nodes(c.threads, g_job.nodes)) {
    (void)std::fflush(stdout);  // what comes of other nodes comes behind it
    command told = c;
    if (const quire_status why = quire_broadcast(&told, sizeof told, 0); why != QUIRE_OK) fail("a parallel region cannot begin", why);
  }
  constexpr std::uintptr_t page = 4096;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  auto* const below = reinterpret_cast<std::byte*>((here - page) / page * page);
  call_on(below, [](void* at) { run_here(*static_cast<const command*>(at)); }, const_cast<command*>(&c));
}

void team_barrier() noexcept {
  const context& c = t_me;
  if (c.count == 1) return;
  g_barrier.wait(c.here, [&] {
    if (!c.spans) return;
    if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) fail("a barrier cannot end", why);
  });
}

void serve() noexcept {
  g_lead_top = make_stack(g_job.stack_bytes);
  remember_private_stack();
  for (command c;;) {
    if (const quire_status why = quire_broadcast(&c, sizeof c, 0); why != QUIRE_OK) fail("node 0 cannot be heard", why);
    if (c.only_places != 0) {
      make_places(c.threads);
      continue;
    }
    if (c.what == nullptr) return;
    call_on(g_lead_top, [](void* at) { run_here(*static_cast<const command*>(at)); }, &c);
    (void)std::fflush(nullptr);
  }
}

void wait_for_workers() noexcept {
  for (std::uint32_t left = 0; (left = g_on_stacks.load(std::memory_order_acquire)) != 0;) g_on_stacks.wait(left, std::memory_order_acquire);
}

void dismiss() noexcept {
  command c;
  if (g_job.nodes > 1) (void)!quire_broadcast(&c, sizeof c, 0);
}

}  // namespace quire::openmp
