// SPDX-License-Identifier: BSD-3-Clause
// A program begins on all nodes, and its main() runs on node 0.
//
//   the dynamic linker, on each node      constructors of the system's libraries; then __libc_start_main, which is the
//                                         one below
//   1  addresses are the same on all nodes, or the program begins anew without random ones
//   2  libc is started with no constructors of the program, and with lead() for main()
//   3  lead() starts Quire, and shares the program's static data as node 0 has it
//   4 node 0 runs constructors of the program and of its libraries, and main() on a shared stack; other nodes serve
//   regions 5 exit() on node 0: its handlers and destructors run while others still serve; then the job ends
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <quire/system.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ios>
#include <new>

#include "os/signals_held.hpp"
#include "program/job/shared_state.hpp"
#include "program/loader/loading/automatic.hpp"
#include "program/loader/loading/constructors.hpp"
#include "program/loader/loading/loading.hpp"
#include "program/loader/start/allocators.hpp"
#include "program/loader/start/crash.hpp"
#include "program/loader/start/other_jobs.hpp"
#include "program/omp/places/places.hpp"
#include "program/omp/team/team.hpp"
#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/files/environment.hpp"
#include "program/posix/files/own_descriptors.hpp"
#include "program/posix/files/process_state.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/posix/heap/operators.hpp"
#include "program/posix/libc/state.hpp"
#include "program/posix/mapped/files.hpp"
#include "program/posix/memory/own_addresses.hpp"
#include "program/posix/memory/release_heap.hpp"
#include "program/posix/memory/stacks.hpp"
#include "program/posix/memory/thread_data.hpp"
#include "program/posix/process/exit_stack.hpp"
#include "program/posix/process/exits.hpp"
#include "program/posix/process/single_threaded.hpp"
#include "program/posix/pthreads/notices.hpp"
#include "program/posix/pthreads/start_at.hpp"
#include "program/posix/pthreads/starting.hpp"
#include "program/posix/threads/interrupts.hpp"
#include "program/posix/threads/own_threads.hpp"
#include "program/process/fail.hpp"
#include "program/process/image/image.hpp"
#include "program/process/interpose.hpp"
#include "program/process/memory_mode.hpp"
#include "program/process/modules.hpp"
#include "program/process/own_names.hpp"
#include "program/process/programs_mask.hpp"
#include "program/process/watch/calls.hpp"
#include "program/process/watch/demotion.hpp"

namespace quire::program {
namespace {

using main_function = int (*)(int, char**, char**);
using init_function = void (*)(int, char**, char**);

struct program {
  main_function run = nullptr;
  init_function init = nullptr;  ///< of programs that were linked with a libc before 2.34; others have none
  int count = 0;
  char** arguments = nullptr;
  char** environment = nullptr;
};
program g_program;
bool g_running = false;                   ///< a job, on node 0
std::atomic<bool> g_exits_within{false};  ///< exit(3) was called in a region
int g_status = 0;
bool g_in_job = false;

void no_constructors(int, char**, char**) noexcept {}

void without_random_addresses() noexcept {
  constexpr const char* again = "QUIRE_EXEC_AGAIN";
  const bool is_second = std::getenv(again) != nullptr;
  if (is_second) QUIRE_NEXT(unsetenv)(again);
  if (placed_by_exec()) return;
  const int now = ::personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0) return;
  if (is_second)
    fail(
        "the system gives the program random addresses each time, as of files that are set-user-ID or set-group-ID: "
        "chmod ug-s it",
        QUIRE_UNSUPPORTED);
  if (::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1) {
    fail("the system lets no program have the same addresses on all nodes (personality(2), ADDR_NO_RANDOMIZE)",
         QUIRE_UNSUPPORTED);
  }
  QUIRE_NEXT(setenv)(again, "1", 1);
  ::execv("/proc/self/exe", g_program.arguments);
  fail("the program cannot be started again", QUIRE_SYSTEM);
}

/// What threads of other nodes may look at by pointers of main().
char** share_texts(char** texts, std::size_t count) noexcept {
  std::size_t bytes = (count + 1) * sizeof(char*);
  for (std::size_t i = 0; i < count; ++i) bytes += std::strlen(texts[i]) + 1;
  void* at = nullptr;
  if (const quire_status why = quire_malloc(bytes, &at); why != QUIRE_OK)
    fail("no shared memory for the arguments", why);
  auto** const shared = static_cast<char**>(at);
  char* next = reinterpret_cast<char*>(shared + count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    shared[i] = next;
    next = ::stpcpy(next, texts[i]) + 1;
  }
  shared[count] = nullptr;
  return shared;
}

void run_main(void* result) noexcept {
  program& p = g_program;
  begin_own_main();
  run_constructors(p.count, p.arguments, p.environment, p.init == nullptr);
  if (p.init != nullptr) p.init(p.count, p.arguments, p.environment);
  if (!has_placement()) {
    *static_cast<int*>(result) = p.run(p.count, p.arguments, p.environment);
    return;
  }
  try {
    ::exit(p.run(p.count, p.arguments, p.environment));
  } catch (abi::__forced_unwind&) {
    end_after_others(*own());
  }
}

/// std::cout and its like lie in the program's data, and lead to buffers in libstdc++, which each node has for itself.
void construct_streams() noexcept {
  alignas(std::ios_base::Init) static std::byte room[sizeof(std::ios_base::Init)];
  (void)new (room) std::ios_base::Init;  // never destroyed: the program's own does that
}

/// Threads of all nodes write: what one has written comes before what another one writes when it hears of that.
void write_lines() noexcept {
  if (job().nodes > 1) (void)std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

std::size_t main_stack_bytes() noexcept {
  constexpr std::size_t usual = 8u << 20, most = std::size_t{1} << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 8 * usual;
  return limit.rlim_cur > most ? most : static_cast<std::size_t>(limit.rlim_cur) / 4096 * 4096;
}

/// The main thread of another node than node 0 has no thread-local variables of its own any more, and its pthread_t is
/// that of main() on node 0: another one serves, and gets the signals.
void serve_in_place() noexcept {
  if (has_placement() && !has_thread_data()) return serve();  // no thread of the program's
  make_places(first_places() * job().nodes);
  start_thread_at(
      0,
      [](void*) -> void* {
        serve();
        return nullptr;
      },
      nullptr, false);
  (void)os::hold_signals();
  wait_for_lead();
}

/// libc calls exit(3) itself, past the one below, for err(3), error(3) and at the end of main(). Behind the program's
/// own handlers.
void note_exit(int status, void*) noexcept {
  if (!g_in_job) return;
  if (job().node != 0) exit_on_node_0(status);
  g_status = status;
  if (!has_placement() && me().active_level > 0) g_exits_within = true;
}

/// The last step of a node's start. The program's first thread may begin on any node, at once.
void wait_for_all_nodes() noexcept {
  if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) fail("nodes cannot begin", why);
}

/// What there is to decide by the program's code, while there is one thread.
void look_at_program() noexcept {
  choose_memory();
  choose_placement();
  allow_code_in_memory();
  restore_environment();
  if (has_placement()) refuse_other_jobs();
}

void start_quire() noexcept {
  if (const quire_status why = quire_start(nullptr); why != QUIRE_OK) fail("the job cannot start", why);
  leave_own_malloc_alone(g_program.arguments);
  lead_to_own_libraries();
  watch::keep_calls_private(modules());
}

int lead(int, char**, char** environment) {
  remember_private_stack();
  note_programs_mask();
  begin_main_thread();
  g_program.environment = environment;
  note_arguments(g_program.count, g_program.arguments, environment);
  look_at_program();
  separate_single_threaded();
  construct_streams();
  explain_crashes();
  note_inherited_descriptors();
  note_no_program(true);
  start_quire();
  look_at_allocators();
  compare_modules();
  compare_memory();
  share_static_data();
  open_thread_data(has_placement());
  open_team();
  open_shared_state();
  open_places();
  open_libc_state();
  open_threads();
  open_interrupts();
  open_release_heap();
  open_heap();
  note_no_program(false);
  if (job().node == 0) open_exit_stack();
  (void)QUIRE_NEXT(on_exit)(note_exit, nullptr);
  end_job_by_quick_exit();
  g_in_job = true;
  separate_private_memory();  // while there is no thread that maps memory meanwhile
  note_own_descriptors();
  open_files();
  mapped::open_mapped_files();
  open_loading();
  note_modules_before_program();
  if (is_mixed() && job().nodes > 1) watch::open_demotion();
  if (has_placement()) write_lines();
  wait_for_all_nodes();
  if (job().node != 0) {
    serve_in_place();
    stop_notices();
    close_files();
    close_threads();
    close_static_data();
    close_heap();
    note_no_program(true);
    wait_for_workers();
    watch::close_demotion();
    if (own_threads() != 0) stop_others_at_faults();
    (void)QUIRE_NEXT(fflush)(nullptr);
    ::_exit(quire_end() == QUIRE_OK ? 0 : 1);
  }
  make_places(first_places() * job().nodes);
  me().seat = take_seat(binding::primary, 1, 0, {});
  g_running = true;
  if (job().nodes > 1) {
    watch_for_exits();
    share_environment();
    share_mask();
  }
  g_program.arguments = share_texts(g_program.arguments, static_cast<std::size_t>(g_program.count));
  std::byte* const top = make_stack(main_stack_bytes(), "the limit of the shell, or quire exec --stack");
  int result = 0;
  call_on(top, run_main, &result);
  end_below(top);
  return result;
}

void end_job_on_private_stack() noexcept {
  if (!g_exits_within) stop_watching();
  call_at_end([](void*) { run_destructors(); }, nullptr);
  mapped::write_mapped_files();
  if (g_exits_within) quire_exit(g_status);  // other threads of the region cannot be waited for
  stop_notices();
  if (do_threads_run()) quire_exit(g_status);
  const os::signals_held none;  // no handler of the program may ask for memory of nodes that have ended
  stop_making_places();
  close_libc_state();
  close_files();
  if (!dismiss_clerks()) quire_exit(g_status);  // a thread that the program has left behind is in a call
  close_threads();
  close_static_data();
  close_heap();
  note_no_program(true);
  watch::tell_end_of_demotion();
  dismiss();
  wait_for_workers();
  watch::close_demotion();
  if (own_threads() != 0) stop_others_at_faults();
  if (const quire_status why = quire_end(); why != QUIRE_OK) fail("the job cannot end", why);
}

/// After the program's own destructors, before those of Quire and what it stands on.
[[gnu::destructor]] void end_job() noexcept {
  if (!g_running) return;
  g_running = false;
  if (!in_heap(__builtin_frame_address(0)) || private_stack() == nullptr) return end_job_on_private_stack();
  call_on(
      private_stack(),
      [](void*) {
        end_job_on_private_stack();
        (void)QUIRE_NEXT(fflush)(nullptr);
        ::_exit(g_status);  // the stack that it would return to is no more
      },
      nullptr);
}

}  // namespace
}  // namespace quire::program

using namespace quire::program;

#define QUIRE_EXPORT extern "C" __attribute__((visibility("default")))

QUIRE_EXPORT int __libc_start_main(main_function run, int count, char** arguments, init_function init, void (*fini)(),
                                   void (*linker_fini)(), void* stack_end) {
  using start_function = int (*)(main_function, int, char**, init_function, void (*)(), void (*)(), void*);
  const auto real = reinterpret_cast<start_function>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  g_program = {run, init, count, arguments, nullptr};
  note_own_malloc();
  without_random_addresses();
  return real(lead, count, arguments, no_constructors, fini, linker_fini, stack_end);
}

/// Streams of C++ write through stdio, which each node has for itself. Buffers of their own would be shared objects
/// that only one node has made.
QUIRE_EXPORT bool _ZNSt8ios_base15sync_with_stdioEb(bool) { return true; }

/// On the private stack, from which the job can end. In a region those of node 0 run handlers, below the caller's
/// frames.
QUIRE_EXPORT void exit(int status) {
  using exit_function = void(int);
  exit_function* const real = QUIRE_NEXT_AS(exit_function, "exit");
  struct call {
    exit_function* real;
    int status;
  };
  static call c;  // private: the caller's stack is not
  if (has_placement()) {
    if (own() != nullptr) run_last_calls(*own());
    if (job().node != 0) exit_on_node_0(status);
    while (is_exit_begun()) ::pause();
  } else if (me().active_level > 0 || is_exit_watcher()) {
    if (job().node != 0) exit_on_node_0(status);
    if (g_exits_within.exchange(true)) {
      for (;;) ::pause();
    }
  }
  c = {real, g_status = status};
  if (in_heap(__builtin_frame_address(0)) && private_stack() != nullptr && job().node == 0) {
    constexpr std::size_t own_frame = 4096;
    end_below(static_cast<std::byte*>(__builtin_frame_address(0)) - own_frame);
    call_on(
        private_stack(), [](void* at) { static_cast<call*>(at)->real(static_cast<call*>(at)->status); }, &c);
  }
  real(status);
  __builtin_unreachable();
}
