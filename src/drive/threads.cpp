// SPDX-License-Identifier: BSD-3-Clause
// Driving: how a thread's operation gets done, and the service thread. See driver.hpp for the idea.
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/fault.hpp"
#include "core/inbox.hpp"
#include "core/region_builder.hpp"
#include "core/thread_state.hpp"
#include "core/watching.hpp"
#include "drive/threads.hpp"
#include "os/injection.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "os/own_thread.hpp"
#include "os/signals_held.hpp"
#include "os/slices.hpp"
#include "transport/transport.hpp"

namespace quire::drive {

/// While a thread drives on behalf of a call, the application's signal handlers must wait: they may touch shared
/// memory. In a fault handler they do already.
class signal_pause {
 public:
  explicit signal_pause(bool needed) noexcept
      : active_(needed && driver::signals_handled.load(std::memory_order_relaxed)) {
    if (active_) before_ = os::hold_signals();
  }
  ~signal_pause() { end(); }
  signal_pause(const signal_pause&) = delete;
  signal_pause& operator=(const signal_pause&) = delete;
  void end() noexcept {
    if (active_) (void)os::change_signal_mask(SIG_SETMASK, before_);
    active_ = false;
  }

 private:
  bool active_;
  os::signal_bits before_ = 0;
};

namespace {

/// Of a thread of this process.
struct thread_here {
  std::uint32_t tid = 0;              ///< the kernel's number of it, once it has slept
  bool prefers_short_slices = false;  ///< it has waited where others want the cores
  bool driving = false;
};
thread_local constinit thread_here t_here __attribute__((tls_model("initial-exec"))){};

/// The calling thread waits where others want its core. Also before it gives way: by that a thread loses its slice, and
/// one with a long slice would be let in again after many turns of those with short ones.
void prefer_short_slices() noexcept {
  if (std::exchange(t_here.prefers_short_slices, true)) return;
  os::prefer_short_slices();
}

}  // namespace

threads::threads(const pace& how, core::core& driven, bootstrap::bootstrap& job)
    : core_(driven),
      job_(job),
      waits_(driven, *this, shown_, job),
      counters_(driven, *this, shown_, job),
      wish_(driven, *this, job) {
  driver_.how = how;
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

threads::~threads() {
  stop();
  for (const int descriptor : {epoll_, call_, timer_}) os::close_descriptor(descriptor);
}

transport::transport& threads::wire() const noexcept { return core_.wire; }
bool threads::is_driving() noexcept { return t_here.driving; }
std::uint64_t threads::now() const noexcept { return base::now_ns(); }

bool threads::drive() noexcept {
  const bool any = core_.round();
  if (driver_.queue.empty()) return any;
  execute_queue();
  return true;
}

void threads::execute_queue() noexcept {
  driver_.execute_queued([this](core::op& o) noexcept { core_.execute(o); });
}

/// An application thread gives up driving. What has to go on by itself is the service thread's. `waits`: for something
/// that has not come yet.
void threads::leave_drive(bool waits) noexcept {
  const bool wakes = unmute(waits);
  const bool pending = wire().sends_pending() || core_.is_restless();
  hand_over();
  if (pending || !wakes) call();
}

/// An application thread is going to poll. The service thread, asleep, is not woken by what it takes: that would cost
/// it its core.
void threads::mute() noexcept {
  if (!parked_.load(std::memory_order_relaxed) || (!can_sit_ && !driver_.may_spin())) return;
  muted_ = true;
  wire().disarm();
}

/// It has polled, and lets the transport wake the service thread again. False if the service thread has to come and
/// look for itself.
bool threads::unmute(bool waits) noexcept {
  if (!parked_.load(std::memory_order_relaxed)) return true;  // it is awake, and looks before it sleeps
  if (!muted_ && !(waits && unhurried_.load(std::memory_order_relaxed))) return true;  // it will be woken
  constexpr int tries = 4;
  for (int i = 0; i < tries && !bursts_.lasts(); ++i) {
    if (arm(waits)) {
      muted_ = false;
      return true;
    }
    (void)drive();
  }
  return false;
}

/// From now on the transport wakes the service thread: while threads here wait for others, for any message; else for
/// urgent ones.
bool threads::arm(bool waits) noexcept {
  // Whoever goes to sleep counts himself first, and looks at `unhurried_` then.
  unhurried_.store(true, std::memory_order_seq_cst);
  const bool any = waits || driver_.sleeping.load(std::memory_order_seq_cst) != 0;
  if (any) unhurried_.store(false, std::memory_order_relaxed);
  return wire().arm(any ? transport::urgency::later : transport::urgency::now);
}

/// It will poll; and who was here before may have left something that wakes nobody, and that this node's own release is
/// to find done: diffs, say.
void threads::prepare_to_meet() noexcept {
  constexpr int at_most = 16;
  mute();
  for (int i = 0; i < at_most && wire().progress(); ++i) continue;
}

/// After a fault or call that was done at once. A thread that computes between many of them keeps the service thread
/// from its core: what has been asked of this node would wait for the scheduler, for milliseconds.
void threads::look_now_and_then() noexcept {
  if (bursts_.is_look_due(base::now_ns())) (void)drive();
}

/// Whoever queues an operation and finds the lock taken relies on this look at the queue.
void threads::hand_over() noexcept {
  t_here.driving = false;
  driver_.unlock();
  while (!driver_.queue.empty() && !os::injected(os::call::hand_over) && driver_.try_lock()) {
    t_here.driving = true;
    execute_queue();
    if (!unmute(false) || wire().sends_pending()) call();
    t_here.driving = false;
    driver_.unlock();
  }
}

void threads::call() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(call_, &one, sizeof one);
}

bool threads::run(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept {
  signal_pause pause(!in_fault);
  if (!driver_.try_lock()) {
    driver_.queue.push(o);
    return wait(o, false, timeout_ms, pause);
  }
  t_here.driving = true;
  mute();  // before a request leaves: who serves it may be let in on this core at once, and its reply wake a sleeper
  driver_.execute_in_turn(o, [this](core::op& next) noexcept { core_.execute(next); });
  if (!o.done()) return wait(o, true, timeout_ms, pause);
  look_now_and_then();
  leave_drive(false);
  return true;
}

/// The program looks at its flag between two calls: each is short. It polls on, so that the transport need wake nobody
/// for what is not urgent.
void threads::spin() noexcept {
  if (!driver_.may_spin()) return void(::sched_yield());
  const signal_pause pause(true);
  if (!driver_.try_lock()) return;
  t_here.driving = true;
  driver_.polling.fetch_add(1, std::memory_order_relaxed);
  mute();
  execute_queue();
  bool any = false;
  for (const std::uint64_t until = base::now_ns() + driver_.how.spin_look_ns; !any && base::now_ns() < until;)
    any = drive();
  driver_.polling.fetch_sub(1, std::memory_order_relaxed);
  leave_drive(false);
  if (!any) ::sched_yield();
}

bool threads::may_look(int threads, std::uint64_t& since, std::uint64_t& last) noexcept {
  if (threads > driver_.how.cores || !driver_.may_spin()) return false;
  const std::uint64_t now = base::now_ns();
  if (since == 0) since = last = now;
  if (driver_.cores.noticed(std::exchange(last, now), now)) return false;
  return now - since < driver_.how.spin_ns;
}

/// Polls until `o` is done or the time for it is over. `driving`: the caller has the lock. True: it has it now.
bool threads::drive_for(const core::op& o, bool driving) noexcept {
  const pace& how = driver_.how;
  driver_.polling.fetch_add(1, std::memory_order_relaxed);
  polling wait(how);
  std::uint64_t looked = 0;
  bool moved = false, away = false;
  if (driving) mute();
  for (unsigned round = 1; !o.done(); ++round) {
    if (driving) {
      if (drive()) moved = true;
    } else if (driver_.try_lock()) {
      driving = t_here.driving = true;
      mute();
      execute_queue();
    } else {
      base::cpu_relax();
    }
    if (round % how.rounds_between_looks != 0) continue;
    const std::uint64_t now = base::now_ns();
    away = looked != 0 && driver_.cores.noticed(looked, now);
    if (away) break;
    looked = now;
    const next_step next = wait.look(now, std::exchange(moved, false));
    if (next == next_step::sleep) break;
    if (next == next_step::give_way) ::sched_yield();
  }
  if (driving && !away && o.done()) take_what_follows();
  driver_.polling.fetch_sub(1, std::memory_order_relaxed);
  if (driving) bursts_.left(base::now_ns());
  return driving;
}

/// What has arrived meanwhile is taken now rather than with the next fault: in a sweep, the rest of the window. What is
/// used under a lock that has come is waited for, too: a fault takes longer than it does.
void threads::take_what_follows() noexcept {
  const pace& how = driver_.how;
  if (!drive() && !core_.awaits_units()) return;
  const std::uint64_t start = base::now_ns();
  for (std::uint64_t spent = 0; spent < how.linger_ns; spent = base::now_ns() - start) {
    if (!drive() && (spent >= how.await_ns || !core_.awaits_units())) return;
  }
}

/// A fault keeps the program's signals waiting, as their handlers may share memory. One that takes long lets them in:
/// Ctrl-C ends a node that waits for what another node keeps.
void threads::sleep_for(core::op& o, std::int64_t timeout_ms, std::uint64_t start) noexcept {
  constexpr std::int64_t patience_with_signals_ns = 50'000'000;
  const std::int64_t limit_ns = base::limit_ns(timeout_ms);
  if (timeout_ms < 0 && o.sleep(patience_with_signals_ns)) return;
  const detect::signals_let_in handled;
  std::int64_t left = -1;
  do {
    if (timeout_ms >= 0) left = limit_ns - static_cast<std::int64_t>(base::now_ns() - start);
    if (timeout_ms >= 0 && left <= 0) break;
  } while (!o.sleep(left));
}

bool threads::wait_for(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept {
  signal_pause pause(!in_fault);
  return wait(o, false, timeout_ms, pause);
}

/// `driving`: the caller has the lock.
bool threads::wait(core::op& o, bool driving, std::int64_t timeout_ms, signal_pause& pause) noexcept {
  if (driver_.how.cores == 0 || !driver_.may_spin()) prefer_short_slices();
  if (driver_.may_spin()) driving = drive_for(o, driving);
  if (!o.done() && !driver_.may_spin()) prefer_short_slices();
  if (!driving && !o.done() && driver_.try_lock()) {  // nobody drives: what was queued would lie there
    driving = t_here.driving = true;
    execute_queue();
  }
  if (o.done()) {
    if (driving) leave_drive(false);
    return true;
  }
  const std::uint64_t start = base::now_ns();
  driver_.sleeping.fetch_add(1, std::memory_order_seq_cst);
  if (t_here.tid == 0) t_here.tid = static_cast<std::uint32_t>(::gettid());
  core::wait_note shown = core::this_thread().wants;
  shown.since_ns = start;
  shown.tid = t_here.tid;
  const std::size_t at = shown_.show(shown);
  if (!sit_for(o, driving, timeout_ms, start)) {
    // From here on only the service thread may be left to drive.
    driver_.sleeps.fetch_add(1, std::memory_order_seq_cst);
    if (driver_.ticking.load(std::memory_order_seq_cst) || unhurried_.load(std::memory_order_seq_cst)) call();
    pause.end();
    sleep_for(o, timeout_ms, start);
    driver_.sleeping.fetch_sub(1, std::memory_order_relaxed);
  }
  shown_.take_away(at);
  return o.done();
}

/// Sleeps on the transport's word, in the place of the service thread: what comes wakes the thread that waits for it,
/// and no other. Not for long, as it keeps the program's signals waiting; and not while others ask without pause: the
/// service thread has more to look at. True if `o` is done; then it does not count as asleep any more, so that the
/// transport is to wake nobody for what is not urgent.
bool threads::sit_for(core::op& o, bool driving, std::int64_t timeout_ms, std::uint64_t start) noexcept {
  const transport::futex_word word = wire().word();
  const std::uint64_t longest = driver_.how.sit_ns;
  const std::uint64_t end =
      start + (timeout_ms < 0 ? longest : std::min(longest, static_cast<std::uint64_t>(base::limit_ns(timeout_ms))));
  service_spin spin(driver_.how);
  while (can_sit_ && word.at != nullptr && base::now_ns() < end) {
    if (!driving) {
      if (!driver_.try_lock()) break;  // somebody else drives, and does not sit
      t_here.driving = true;
      execute_queue();
    }
    mute();
    bool armed = false;
    const std::uint64_t stop = std::min(end, base::now_ns() + driver_.how.longest_drive_ns);
    while (!o.done() && !armed && base::now_ns() < stop) {
      serve(spin, &o, stop);
      armed = !o.done() && wire().arm_word();
    }
    if (!armed) {
      driving = true;
      break;
    }
    const bool pending = wire().sends_pending() || core_.is_restless();
    hand_over();
    if (pending) call();
    driving = false;
    if (!o.sleep_beside(*word.at, word.value, end) || o.done()) break;
  }
  if (!driving && driver_.try_lock()) {
    driving = t_here.driving = true;
    execute_queue();
  }
  const bool done = o.done();
  if (done) driver_.sleeping.fetch_sub(1, std::memory_order_relaxed);
  if (driving) leave_drive(!done);
  return done;
}

void threads::start() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  call_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_ < 0 || call_ < 0) {
    const int error = errno;
    base::die(QUIRE_SYSTEM, "a node has no descriptor for its service thread: %s%s", std::strerror(error),
              os::explain_error(error).text);
  }
  watch(call_);
  watch(timer_);
  watch(wire().descriptor());
  watch(job_.descriptor());
  watch_faults(core_.builder.detector());
  core_.begin();
  can_sit_ = wire().word().at != nullptr && os::can_wait_either();
  if (core_.config.memory_limit != 0) start_crew();
  service_ = os::start_server([this] { service_loop(); });
}

void threads::start_crew() noexcept {
  if (!crew_starts_.exchange(true)) crew_.start(store::crew_of_threads::usual_threads);
}

/// The service thread wakes when `descriptor` is readable.
void threads::watch(int descriptor) noexcept {
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.fd = descriptor;
  if (epoll_ >= 0 && descriptor >= 0) CHECK(::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &e) == 0);
}

void threads::watch_faults(const detect::detector& d) noexcept {
  if (d.descriptor() < 0) return;
  kernel_faults_ = true;
  watch(d.descriptor());
}

void threads::stop() noexcept {
  if (!service_.joinable()) return;
  core_.watching.say_goodbye();
  stopping_.store(true);
  call();
  service_.join();
  crew_.stop();
  parked_.store(false, std::memory_order_relaxed);
}

void threads::stop_for_good() noexcept {
  stop();
  while (!driver_.try_lock()) ::sched_yield();
}

/// Handles what there is, then looks on for a while; a thread that sits, until its operation is done, or the time over.
void threads::serve(service_spin& spin, const core::op* until, std::uint64_t end_ns) noexcept {
  std::uint64_t looked = 0;
  spin.begin();
  for (unsigned idle = 1; until == nullptr || !until->done(); ++idle) {
    bool moved = drive();
    if (until == nullptr && kernel_faults_ && core_.faults.drain_kernel_faults()) moved = true;
    if (moved) {
      const std::uint64_t now = base::now_ns();
      spin.served(now, core_.in.more_follows());
      if (until != nullptr && now >= end_ns) break;
      looked = 0;
      idle = 0;
    } else if (!driver_.may_spin() || driver_.polling.load(std::memory_order_relaxed) != 0) {
      return;
    } else if (spin.may_follow_up(base::now_ns())) {
      base::cpu_relax();
    } else if (driver_.sleeping.load(std::memory_order_relaxed) == 0 && core_.faults.held_by_kernel() == 0) {
      return;
    } else if (idle % driver_.how.rounds_between_looks == 1) {
      const std::uint64_t now = base::now_ns();
      if (looked != 0 && driver_.cores.noticed(looked, now)) break;
      looked = now;
      const next_step next = spin.look(now);
      if (next == next_step::sleep) break;
      if (next == next_step::give_way) ::sched_yield();
    }
  }
  spin.end();
}

/// Serves other nodes whatever the application does; sleeps while there is nothing to do.
void threads::service_loop() noexcept {
  (void)os::hold_signals();
  ::pthread_setname_np(::pthread_self(), "quire-service");
  ::prctl(PR_SET_TIMERSLACK, 1000ul);
  os::prefer_short_slices();  // it works for microseconds at a time
  service_spin spin(driver_.how);
  pace at_once = driver_.how;
  at_once.service_spin_ns = 0;
  service_spin no_spin(at_once);
  bool called = false;
  constexpr std::uint64_t news_every_ns = 10'000'000;
  std::uint64_t news_due_ns = 0;
  while (!stopping_.load(std::memory_order_relaxed)) {
    parked_.store(false, std::memory_order_relaxed);
    if (core::op* const o = waits_.look(); o != nullptr) driver_.queue.push(*o);
    counters_.look();
    wish_.look();
    if (!driver_.try_lock()) {
      if (base::now_ns() >= core_.watching.next_look()) core_.watching.want_look();
      called = tick();
      continue;
    }
    t_here.driving = true;
    execute_queue();
    // They poll themselves: no need to spin, nor to arm.
    const bool others = !called && bursts_.lasts(base::now_ns());
    if (!others) ticks_.end();
    serve(others ? no_spin : spin);
    core_.look_around();
    const bool soon = others || core_.is_restless() || driver_.polling.load(std::memory_order_relaxed) != 0;
    const bool armed = !soon && arm(false);
    if (armed) {
      muted_ = false;
      parked_.store(true, std::memory_order_relaxed);
      core_.set_clock();
    }
    hand_over();
    called = soon && tick();
    if (armed && driver_.queue.empty()) {
      service_sleep(longest_sleep_ms);
    } else if (!soon && wire().stuck()) {
      service_sleep(1);
    } else if (!soon) {
      ::sched_yield();  // sends wait for room at the receiver, or something has arrived just now
      // A receiver that has died never has room: that it has is among the news.
      if (base::now_ns() < news_due_ns) continue;
      service_sleep(0);
      news_due_ns = base::now_ns() + news_every_ns;
    }
  }
}

/// A short sleep while application threads drive. True if one of them has called because it goes to sleep itself.
bool threads::tick() noexcept {
  driver_.ticking.store(true, std::memory_order_seq_cst);
  const std::uint64_t sleeps = driver_.sleeps.load(std::memory_order_seq_cst);
  const bool missed = sleeps != sleeps_seen_;  // it came before `ticking` could be seen
  sleeps_seen_ = sleeps;
  pollfd looked_at[] = {{call_, POLLIN, 0}, {job_.descriptor(), POLLIN, 0}, {timer_, POLLIN, 0}};
  const timespec t{0, missed ? 0 : static_cast<long>(ticks_.next_ns())};
  (void)::ppoll(looked_at, 3, &t, nullptr);
  driver_.ticking.store(false, std::memory_order_relaxed);
  if (looked_at[1].revents != 0) handle_news();
  if (looked_at[2].revents != 0) clear_timer();
  handle_loss();
  const bool kicked = looked_at[0].revents != 0;
  if (kicked) clear_call();
  return kicked || missed;
}

/// A service thread that ticks looks by itself. To set the clock costs a virtual machine 10 us; and when it rings, it
/// takes a thread that computes 30 us of its core.
void threads::call_at(std::uint64_t ns) noexcept {
  if (!parked_.load(std::memory_order_relaxed)) return;
  itimerspec at{};
  at.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  at.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  (void)::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

void threads::clear_timer() noexcept {
  std::uint64_t times;
  (void)!::read(timer_, &times, sizeof times);
}

void threads::pause(std::uint64_t ns) noexcept {
  const timespec t{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &t, nullptr);
}

void threads::ask_for_waits() noexcept {
  waits_.ask();
  call();
}

void threads::clear_call() noexcept {
  std::uint64_t count;
  (void)!::read(call_, &count, sizeof count);
}

void threads::service_sleep(std::uint64_t longest_ms) noexcept {
  epoll_event events[8];
  handle_loss();
  constexpr std::uint64_t ms = 1'000'000, longest_with_loss_ms = 50;
  std::uint64_t limit_ms = longest_ms;
  if (core_.watching.lost_until_ns() != 0) limit_ms = std::min(limit_ms, longest_with_loss_ms);
  const std::uint64_t due = core_.watching.next_look();
  if (due != UINT64_MAX) {
    const std::uint64_t now = base::now_ns();
    limit_ms = std::min(limit_ms, due > now ? (due - now) / ms + 1 : 0);
  }
  const int n = ::epoll_wait(epoll_, events, 8, static_cast<int>(limit_ms));
  for (int i = 0; i < n; ++i) {
    if (events[i].data.fd == call_) {
      clear_call();
    } else if (events[i].data.fd == timer_) {
      clear_timer();
    } else if (events[i].data.fd == job_.descriptor()) {
      handle_news();
    }
  }
}

}  // namespace quire::drive
