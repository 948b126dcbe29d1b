// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/errands/errand.hpp"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "os/signals_held.hpp"
#include "program/job/shared_state.hpp"
#include "program/posix/errands/actions.hpp"
#include "program/posix/memory/callers.hpp"
#include "program/posix/memory/pages.hpp"
#include "program/posix/threads/cancellation.hpp"
#include "program/process/fail.hpp"
#include "program/process/private_memory.hpp"
#include "program/process/programs_mask.hpp"

namespace quire::program {

/// What this node knows of a clerk that works for it elsewhere. Private.
struct clerk_of_other {
  int node = 0;
  desk* at = nullptr;
  int holds = 0;
  bool busy = false;               ///< an errand of its thread, which a handler has interrupted
  clerk_of_other* next = nullptr;  ///< of those that are idle, or of those that are a thread's own
};

namespace {

std::mutex g_guard;
clerk_of_other* g_idle = nullptr;
thread_local clerk_of_other* t_own = nullptr;

/// A node that has ended takes no calls: the caller ends with its own node.
[[noreturn]] void end_with_job(quire_status why) noexcept {
  const timespec long_enough{10, 0};
  ::nanosleep(&long_enough, nullptr);
  fail("another node cannot be asked to make a call", why);
}
void must(quire_status why) noexcept {
  if (why != QUIRE_OK) end_with_job(why);
}

/// The kernel gives SIGPIPE to the thread that has written: here it waits, as the clerk has it blocked.
bool take_broken_pipe() noexcept {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGPIPE);
  static constexpr timespec none{0, 0};
  return ::sigtimedwait(&one, nullptr, &none) == SIGPIPE;
}
/// For the thread that would have written. What any thread has set for the signal holds.
void raise_broken_pipe() noexcept {
  repeat_actions();
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), SIGPIPE);
}

void* work(void* at) noexcept {
  block_signals();
  auto& d = *static_cast<desk*>(at);
  static thread_local constinit interruptible t_calling;
  d.calling = &t_calling;
  for (;;) {
    if (quire_semaphore_acquire(d.called, -1) != QUIRE_OK || d.what == nullptr) return nullptr;
    t_calling.begin(d.turn);
    errno = 0;
    d.what(d);
    const int error = errno;
    (void)t_calling.end();
    d.error = error;
    d.broken_pipe = take_broken_pipe();
    if (quire_semaphore_release(d.done, 1) != QUIRE_OK) return nullptr;
  }
}

/// What stands for all desks when the job ends.
desk* no_more() noexcept { return reinterpret_cast<desk*>(desk::page - 1); }
bool pass(desk& d, std::uint32_t from, std::uint32_t to) noexcept {
  return __atomic_compare_exchange_n(&d.use, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
/// Of a thread that the program has left behind: its node ends.
[[noreturn]] void wait_for_end() noexcept {
  for (;;) ::pause();
}

clerk_of_other* engage(int node) noexcept {
  void* at = nullptr;
  must(quire_aligned_alloc(desk::page, desk::page, &at));
  auto* const d = new (at) desk;
  must(quire_semaphore_create(0, &d->called));
  must(quire_semaphore_create(0, &d->done));
  d->use = desk::caller;
  desk*& all = shared().desks;
  d->next = __atomic_load_n(&all, __ATOMIC_ACQUIRE);
  do {
    if (d->next == no_more()) wait_for_end();
  } while (!__atomic_compare_exchange_n(&all, &d->next, d, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  must(quire_spawn(node, work, d, &d->clerk));
  auto* const made = make_private<clerk_of_other>();
  made->node = node;
  made->at = d;
  return made;
}

clerk_of_other** find(clerk_of_other** list, int node) noexcept {
  while (*list != nullptr && ((*list)->node != node || (*list)->busy)) list = &(*list)->next;
  return list;
}

clerk_of_other* take_idle(int node) noexcept {
  const std::lock_guard held(g_guard);
  clerk_of_other** const at = find(&g_idle, node);
  clerk_of_other* const found = *at;
  if (found != nullptr) *at = found->next;
  return found;
}

bool is_shared(const void* at) noexcept {
  quire_region of{};
  return in_heap(at) || quire_region_of(at, &of) == QUIRE_OK;
}
/// Null, and what the kernel refuses on any node.
bool is_never_mapped(const void* at) noexcept { return reinterpret_cast<std::uintptr_t>(at) < 65536; }
/// Nor with closed pages: those are closed on all nodes.
bool is_refused(const void* at, std::size_t bytes) noexcept {
  return is_never_mapped(at) || (any_closed(at, bytes) && is_shared(at));
}

}  // namespace

// A handler of the program may come at any time but while the thread has a lock, and make such calls itself: by another
// clerk. errno is the call's alone.
errand::errand(int node) noexcept {
  const int saved = errno;
  const os::signals_held none;
  clerk_ = *find(&t_own, node);
  if (clerk_ == nullptr) {
    clerk_ = take_idle(node);
    if (clerk_ != nullptr && !pass(*clerk_->at, desk::nobody, desk::caller)) wait_for_end();
  }
  if (clerk_ == nullptr) clerk_ = engage(node);
  clerk_->busy = true;
  errno = saved;
}

errand::~errand() {
  const int saved = errno;
  give_back();
  if (broken_pipe_) raise_broken_pipe();
  errno = saved;
}

void errand::give_back() noexcept {
  const os::signals_held none;
  for (std::size_t i = 0; i < block_count_; ++i) (void)quire_free(blocks_[i]);
  clerk_->busy = false;
  if (clerk_->holds != 0) return;
  __atomic_store_n(&clerk_->at->use, desk::nobody, __ATOMIC_RELEASE);
  const std::lock_guard held(g_guard);
  clerk_->next = g_idle;
  g_idle = clerk_;
}

void errand::hold() noexcept {
  if (clerk_->holds++ != 0) return;
  clerk_->next = t_own;
  t_own = clerk_;
}

void errand::let_go() noexcept {
  if (clerk_->holds == 0 || --clerk_->holds != 0) return;
  clerk_of_other** at = &t_own;
  while (*at != clerk_) at = &(*at)->next;
  *at = clerk_->next;
}

desk& errand::at_desk() noexcept { return *clerk_->at; }

void errand::wait() noexcept {
  const int saved = errno;
  desk& d = *clerk_->at;
  const made_by_clerk here(clerk_->node, d);
  if (here.is_over()) {  // a call that waits for descriptors: they give an int, as this
    std::memset(d.result, 0xff, sizeof d.result);
    errno = EINTR;
    return;
  }
  {
    const os::signals_held none;
    must(quire_semaphore_release(d.called, 1));
  }
  must(quire_semaphore_acquire(d.done, -1));
  broken_pipe_ |= d.broken_pipe;
  errno = d.error != 0 ? d.error : saved;
}

void* errand::on_desk(std::size_t bytes) noexcept {
  if (bytes > sizeof(desk::carried) - used_) return nullptr;
  const std::size_t room = (bytes + 15) / 16 * 16;
  if (room > sizeof(desk::carried) - used_) return nullptr;
  void* const at = clerk_->at->carried + used_;
  used_ += room;
  return at;
}

void* errand::of_heap(std::size_t bytes) noexcept {
  const int saved = errno;
  const os::signals_held none;
  void* at = nullptr;
  if (block_count_ == most_blocks || quire_malloc(bytes, &at) != QUIRE_OK)
    fail("no shared memory for a call on another node", QUIRE_NO_MEMORY);
  errno = saved;
  return blocks_[block_count_++] = at;
}

const char* errand::take(const char* text) noexcept {
  if (text == nullptr || is_refused(text, PATH_MAX)) return text;
  return take(text, std::strlen(text) + 1);
}

/// What is little travels with the desk: else the caller's page would travel, which it goes on to use.
const void* errand::carry(const void* from, std::size_t bytes) noexcept {
  if (is_refused(from, bytes)) return from;
  void* to = on_desk(bytes);
  if (to == nullptr && is_shared(from)) return from;
  if (to == nullptr) to = of_heap(bytes);
  std::memcpy(to, from, bytes);
  return to;
}

void* errand::make_room(void* to, std::size_t bytes) noexcept {
  if (is_refused(to, bytes)) return to;
  if (void* const at = on_desk(bytes); at != nullptr) return at;
  return is_shared(to) ? to : of_heap(bytes);
}

char* errand::joined(const iovec* parts, int count, std::size_t bytes) noexcept {
  void* at = on_desk(bytes);
  if (at == nullptr) at = of_heap(bytes);
  char* to = static_cast<char*>(at);
  for (int i = 0; i < count && bytes != 0; ++i) {
    const std::size_t some = std::min(bytes, parts[i].iov_len);
    if (some != 0) std::memcpy(to, parts[i].iov_base, some);
    to += some;
    bytes -= some;
  }
  return static_cast<char*>(at);
}

void prepare_clerks() noexcept {
  static std::atomic<bool> prepared{false};
  if (prepared.exchange(true)) return;
  for (int node = 0; node < job().nodes; ++node) {
    if (node != job().node) (void)errand(node);
  }
}

bool dismiss_clerks() noexcept {
  desk* const all = __atomic_exchange_n(&shared().desks, no_more(), __ATOMIC_ACQ_REL);
  for (desk* d = all; d != nullptr; d = d->next) {
    if (!pass(*d, desk::nobody, desk::ended)) return false;
  }
  for (desk* d = all; d != nullptr; d = d->next) {
    d->what = nullptr;
    if (quire_semaphore_release(d->called, 1) == QUIRE_OK) (void)quire_join(d->clerk, nullptr);
  }
  return true;
}

}  // namespace quire::program
