// SPDX-License-Identifier: BSD-3-Clause
// Start and end of a job on this node.
#include "api/orders.hpp"
#include "container/files/mounting.hpp"
#include "libc/libc.hpp"
#include "runtime/runtime.hpp"

#include <pthread.h>
#include <quire/leave.h>
#include <quire/system.h>
#include <quire/transaction.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "api/adopt.hpp"
#include "runtime/range.hpp"
#include "code/service/service.hpp"
#include "container/service/service.hpp"
#include "api/counters.hpp"
#include "runtime/crash.hpp"
#include "start/detector_choice.hpp"
#include "api/exit.hpp"
#include "api/failure.hpp"
#include "api/leave.hpp"
#include "runtime/forward.hpp"
#include "gc/service/heaps.hpp"
#include "start/host_frames.hpp"
#include "start/introductions.hpp"
#include "services/node/names.hpp"
#include "report/pointer_check.hpp"
#include "runtime/quit.hpp"
#include "report/report.hpp"
#include "api/settings.hpp"
#include "report/sharing.hpp"
#include "report/sites.hpp"
#include "runtime/terminate.hpp"
#include "services/node/threads.hpp"
#include "api/transactions.hpp"
#include "api/versions.hpp"
#include "start/wire_choice.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/shortage.hpp"
#include "core/configuration.hpp"
#include "core/host.hpp"
#include "core/inbox.hpp"
#include "core/job_call.hpp"
#include "core/pins.hpp"
#include "core/replicas.hpp"
#include "core/stored_units.hpp"
#include "core/watching.hpp"
#include "detect/redirection.hpp"
#include "os/kernel.hpp"
#include "os/limits.hpp"
#include "os/machine.hpp"
#include "os/memory.hpp"
#include "os/mounts.hpp"
#include "record/events.hpp"
#include "record/recorder.hpp"
#include "split/begin.hpp"
#include "transport/transport.hpp"

namespace quire::api {
namespace {

enum class phase : int { before, starting, running, ended };
std::atomic<phase> g_phase{phase::before};
std::atomic<bool> g_runs_heap{false};  ///< quire_run_heap()
std::atomic<bool> g_leaves{
    false};  ///< quire_end_at_exit() has begun, with pool `fork`: a fault that nobody serves is held

base::status join(runtime& r) {
  auto job = bootstrap::join();
  if (!job.ok()) return job.why();
  r.job = std::move(job.value());
  base::log_set_node(r.job->node());
  return os::check_process(static_cast<unsigned>(r.job->nodes()));
}

/// Nodes tell each other what they are and have, and agree on what must be the same.
base::status meet(runtime& r, core::configuration& c, detector_choice& detector, wire_choice& wire,
                  introductions& others) {
  const std::string& directory = r.options.text(base::option::mount);
  introduction mine;
  mine.memory_limit = c.memory_limit;
  mine.mount = directory.empty() ? 0 : os::place_of(directory);
  mine.commit = static_cast<std::int32_t>(r.options.choice<base::commit_choice>(base::option::commit));
  mine.detector = detector.lack();
  mine.machine = os::machine_of_process();
  host_frames frames(r.options, wire.is_by_memory());
  frames.offer(c, mine);
  if (const auto s = wire.meet(others, mine); !s.ok()) return s;
  r.messages = wire.account();
  others.agree_on_detector(detector, c.self.value());
  if (const std::string old = c.self.value() == 0 ? os::why_old_kernel() : ""; !old.empty())
    base::log(base::log_level::warning, "%s", old.c_str());
  c.detector = detector.kind();
  if (const auto s = others.agree_on_commit(c.self.value()); !s.ok()) return s;
  r.mounts = std::make_unique<mounting>();
  if (const auto s =
          r.mounts->open(directory, r.options.flag(base::option::mount_cache), others.mounts(), c.self.value());
      !s.ok())
    return s;
  c.pages_out = others.any_limit();
  if (c.survives && c.pages_out) return refuse_survival("a memory limit (QUIRE_MEMORY_LIMIT)");
  c.sees_deaths = !r.job->announces_deaths();
  if (c.survives && c.sees_deaths && !r.job->see_deaths())
    return refuse_survival("a job whose launcher ends all, or whose hosts do not reach each other,");
  c.replicas = r.options.number(base::option::replicas) != 0 && c.nodes > 1;
  c.domains = others.hosts();
  if (c.replicas && !c.survives) {
    base::log(base::log_level::error,
              "QUIRE_REPLICAS=1 is of use only where the others go on when a node dies: set QUIRE_ON_FAILURE=notify "
              "too (`quire run --replicas=1` does)");
    return QUIRE_UNSUPPORTED;
  }
  return frames.meet(*r.job, others, c);
}

void make_services(runtime& r) {
  r.regions = std::make_unique<region::registry>(*r.core);
  r.names = std::make_unique<name_service>(*r.core);
  r.threads = std::make_unique<thread_service>(*r.core, start_spawned_thread);
  r.code = std::make_unique<code_service>(*r.core, *r.regions, *r.threads, *r.names, start_code_order);
  code_of_process = []() noexcept -> code_service* {
    runtime* const now = current();
    return now != nullptr ? now->code.get() : nullptr;
  };
  r.exits = std::make_unique<exit_service>(*r.core, *r.threads);
  r.failures = std::make_unique<failure_service>(*r.core);
  r.gc = std::make_unique<gc_service>(*r.core);
  container::set_call_limit(static_cast<std::uint64_t>(r.options.number(base::option::io_timeout)) * 1'000'000'000);
  r.containers = std::make_unique<container_service>(*r.core, *r.regions, *r.threads, start_container_order);
  r.regions->others().when_made(
      [](void* self, const core::region_description& made) {
        if (static_cast<runtime*>(self)->core->regions.is_adopted(made)) note_adopted(made);
      },
      &r);
  r.regions->others().when_gone(
      [](void* self, const core::region_description& gone) noexcept {
        auto& r = *static_cast<runtime*>(self);
        r.names->forget(gone.base, gone.bytes);
        r.gc->forget(gone);
        if (gone.heap != 0) sites::forget(gone.base, gone.bytes);
      },
      &r);
}

void name_limits(char* to, std::size_t bytes) noexcept {
  std::strncpy(to, os::explain(os::shortage::addresses).text, bytes - 1);
}

base::status begin(runtime& r, const quire_options& given) {
  base::set_words_of_shortage(name_limits);
  if (const auto s = join(r); !s.ok()) return s;
  if (r.options.choice<base::check_choice>(base::option::check) == base::check_choice::pointers) {
    r.pointers = std::make_unique<pointer_check>(static_cast<unsigned>(r.job->node()));
  }
  core::configuration c;
  configure(r, c);
  c.runs_heap = g_runs_heap.load();
  detector_choice detector;
  if (const auto s = detector.choose(r.options, given.detector, c.pool); !s.ok()) return s;
  c.detector = detector.kind();
  if (const auto s = check_survival(r, c); !s.ok()) return s;
  wire_choice wire(r.options, *r.job);
  if (const auto s = wire.open(); !s.ok()) return s;
  introductions others;
  if (const auto s = meet(r, c, detector, wire, others); !s.ok()) return s;
  r.node = std::make_unique<engine::engine>(c, pace_of(r.options, r.job->local_nodes()), wire.take(), *r.job);
  r.core = &r.node->node();
  if (const auto s = r.node->open(); !s.ok()) return s;
  detect::redirect_faults_by(transactions::way_back);
  if (const auto s = begin_record(r); !s.ok()) return s;
  if (const auto s = begin_events(r); !s.ok()) return s;
  if (const auto s = r.core->trace.open(r.options.text(base::option::fault_trace), c.self.value()); !s.ok()) return s;
  make_services(r);
  if (const auto s = r.regions->open(heap_of(r.options)); !s.ok()) return s;
  if (const auto s = others.connect(*r.core); !s.ok()) return s;
  if (r.messages.kind == "tcp") r.messages.why += ", by " + std::string(r.core->wire.name());
  r.job->ready();
  r.node->start();
  return {};
}

/// Starts the runtime in this process.
base::status start_here(std::unique_ptr<runtime> r, const quire_options& given) {
  const auto why = begin(*r, given);
  if (!why.ok()) {
    if (why.code() == QUIRE_PEER_LOST && r->job != nullptr) r->job->bereaved();
    g_phase.store(phase::ended);
    return why;
  }
  watch_forks();
  const std::uint64_t base = r->base, bytes = r->bytes;
  set_current(r.release());
  calls::take_over(base, bytes);
  g_phase.store(phase::running);
  install_quit();
  install_terminate();
  current()->mounts->serve(bytes);
  const core::job_call together(*current()->core, sync::meeting::start, "quire_start", quire_thread());
  const base::status met = quire_barrier_wait(quire_barrier{0});
  if (auto* const recorder = current()->core->recorder.get(); recorder != nullptr) recorder->on_met(base::now_ns());
  if (auto* const events = current()->core->events.get(); events != nullptr)
    (void)events->add_of_thread(record::event_type::met, 0, core::this_thread().event_thread);
  return met;
}

// ---- Pool 'fork': the application here, the engine in another process ----

quire_status serve_fault(std::uint64_t address, int write, std::uint64_t entered_ns) {
  QUIRE_FORWARD(serve_fault, address, write, entered_ns);
  QUIRE_ENTER(r);
  return r->node->on_fault(address, write != 0, entered_ns) ? QUIRE_OK : QUIRE_BAD_ADDRESS;
}

/// In the engine's process, until its end.
[[noreturn]] void be_engine(split::engine_side& side, std::unique_ptr<runtime> r, const quire_options& given) {
  split::set_engine_here(&side);
  const std::string crash_dir = r->options.text(base::option::crash_dir);
  const auto why = start_here(std::move(r), given);
  std::uint64_t spin_ns = 0;
  bool kernel_waits = false;
  int node = 0, nodes = 1;
  if (runtime* const running = current(); running != nullptr) {
    node = running->job->node();
    nodes = running->job->nodes();
    kernel_waits = running->core->config.detector == detect::kind::userfault_thread;
    // A thread and its server wait for each other: both may spin only where there is a core for each, and servers wait
    // all the time.
    constexpr std::uint64_t longest_ns = 50'000;
    if (2 * running->job->local_nodes() <= cores())
      spin_ns = std::min(running->node->threads().how().spin_ns, longest_ns);
  }
  side.report(why.code(), node, nodes, spin_ns, kernel_waits);
  side.serve([crash_dir] { tell_pages(crash_dir); });
}

base::status start_split(std::unique_ptr<runtime> r, const quire_options& given) {
  const auto link = static_cast<split::way>(r->options.number(base::option::pool_link));
  const std::uint64_t base = r->base, bytes = r->bytes;
  auto sides = split::begin(r->base, r->bytes, link);
  if (!sides.ok()) return sides.why();
  if (sides.value().engine != nullptr) be_engine(*sides.value().engine, std::move(r), given);
  bootstrap::leave_to_another();
  auto& side = *sides.value().application;
  if (const base::status why = static_cast<quire_status>(side.wait_for_start()); !why.ok()) return why;
  base::log_set_node(side.both().node);
  set_elsewhere(sides.value().application.release());
  const auto why = detect::install_signals(
      [](std::uint64_t address, bool write) noexcept {
        auto* const there = elsewhere();
        if (there == nullptr || !there->contains(address)) return false;
        const bool served = serve_fault(address, write ? 1 : 0, base::now_ns()) == QUIRE_OK;
        while (!served && g_leaves.load()) ::pause();
        return served;
      },
      nullptr,
      [](std::uint64_t address) noexcept {
        auto* const there = elsewhere();
        return there != nullptr && there->contains(address);
      });
  if (!why.ok()) return why;
  calls::take_over(base, bytes);
  watch_forks();
  g_phase.store(phase::running);
  install_quit();
  install_terminate();
  return {};
}

/// What threads of all nodes have written to regions with a store of their own goes there, and lasts. A store that
/// fails has told so by a line.
quire_status write_back_all(runtime& r) {
  r.core->as_driver([&] { r.core->pins.drop_pins(); });  // a node that is on its way here may wait for them
  // Nobody writes any more; and all nodes know of the same regions: one may have gone on some of them while others were
  // on their way here.
  if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) return why;
  for (bool done = false; !done;) {
    r.core->as_driver([&] { done = r.core->stored.write_back_all(); });
    if (!done) r.core->host.pause(100'000);
  }
  return QUIRE_OK;
}

/// From when the end has begun until it is refused, no wish to have the node leave can come true.
class end_begun {
 public:
  explicit end_begun(drive::leave_wish& wish) noexcept : wish_(wish) { wish_.set_ending(true); }
  ~end_begun() {
    if (!passed) wish_.set_ending(false);
  }
  end_begun(const end_begun&) = delete;
  end_begun& operator=(const end_begun&) = delete;
  bool passed = false;

 private:
  drive::leave_wish& wish_;
};

/// What all nodes do together at the end.
quire_status end_together(runtime& r, kept_memory& kept) {
  const core::job_call together(*r.core, sync::meeting::end, "quire_end", quire_thread());
  if (!together.status().ok()) return together.status().code();
  end_begun mark(r.node->threads().wish());
  if (r.mounts->anywhere()) {
    // Other nodes may have started programs that use files of this one.
    if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) return why;
    r.mounts->close();
  }
  r.failures->stop();
  r.regions->settle_frees();
  r.containers->end();
  find_allocations(r);
  if (const quire_status why = kept.fetch(r); why != QUIRE_OK) return why;
  if (const quire_status why = write_back_all(r); why != QUIRE_OK) return why;
  r.code->rest();
  r.core->expect_end();
  const auto why =
      quire_barrier_wait(quire_barrier{0});  // nobody waits for this node any more, and no other barrier is the end
  if (why != QUIRE_OK) r.core->expect_no_end();
  why == QUIRE_OK ? r.code->rest() : r.code->go_on();
  if (why == QUIRE_OK) r.core->part();
  mark.passed = why == QUIRE_OK;
  return why;
}

/// Threads of the program at the end: it has none in shared memory, or the process is about to exit, and those that go
/// on are held.
enum class threads_left { none, to_hold };

quire_status end_split(split::application_side& there, threads_left which) {
  const bool holds = which == threads_left::to_hold;
  g_leaves.store(holds);
  const quire_status why = holds ? forwarder<&quire_end_at_exit>::call(there) : forwarder<&quire_end>::call(there);
  if (why == QUIRE_NOT_STARTED || why == QUIRE_INVALID) {  // the node has not left
    g_leaves.store(false);
    return why;
  }
  remove_quit();
  remove_terminate();
  own_visit::wait_for_all();  // they wait for answers
  if (holds) detect::hold_threads(there.range().base, there.range().bytes);
  there.end();
  calls::hide_range();
  set_elsewhere(nullptr);
  g_phase.store(phase::ended);
  if (holds) return why;
  detect::remove_signals();
  delete &there;
  return why;
}

/// Nobody needs this node any more: its part of the job ends. `tells`: the launcher, with the counters.
base::status take_down(runtime* r, kept_memory& kept, threads_left which,
                       void (bootstrap::bootstrap::*tells)(std::string_view) noexcept) {
  if (r->pointers != nullptr) r->pointers->tell_total();
  remove_quit();
  remove_terminate();
  const std::string numbers = counters_json(*r);
  write_record(*r);
  g_phase.store(phase::ended);
  calls::hide_range();
  set_current(nullptr);
  own_visit::wait_for_all();
  which == threads_left::to_hold ? r->node->stop_for_good() : r->node->stop();
  r->core->trace.write();
  const auto flushed = r->core->wire.flush(10'000);
  kept.put_back(*r);  // until now messages of nodes that are not so far may have come
  (r->job.get()->*tells)(numbers);
  which == threads_left::to_hold ? r->node->hold_threads() : delete r;
  return flushed;
}

quire_status end(threads_left which) {
  if (auto* const there = elsewhere()) return end_split(*there, which);
  QUIRE_ENTER(r);
  if (quire_in_transaction() != 0)
    return base::explain(QUIRE_INVALID, "quire_end(): not within a transaction, which has to end before");
  kept_memory kept;
  end_events(*r);
  if (const auto why = end_together(*r, kept); why != QUIRE_OK) return why;
  return take_down(r, kept, which, &bootstrap::bootstrap::leave).code();
}

quire_status leave() {
  if (elsewhere() != nullptr) return base::explain(QUIRE_UNSUPPORTED, "quire_leave(): not with pool 'fork'");
  QUIRE_ENTER(r);
  if (quire_in_transaction() != 0)
    return base::explain(QUIRE_INVALID, "quire_leave(): not within a transaction, which has to end before");
  if (const auto why = leave_others(*r); why != QUIRE_OK) return why;
  kept_memory nothing;
  end_events(*r);
  // It has left, whatever becomes of its last messages: those that stay do without them.
  if (const auto why = take_down(r, nothing, threads_left::none, &bootstrap::bootstrap::depart); !why.ok())
    base::log(base::log_level::warning, "this node has left, and its last messages may not have: status %d",
              static_cast<int>(why.code()));
  return QUIRE_OK;
}

}  // namespace

runtime::runtime() = default;
runtime::~runtime() = default;

}  // namespace quire::api

using quire::api::phase;
using quire::api::runtime;

quire_status quire_start(const quire_options* options) {
  namespace api = quire::api;
  quire::base::clear_detail();
  if (api::is_forked()) return QUIRE_FORKED;
  quire_options given{};
  if (!api::take(options, given, "quire_start", "quire_options")) return QUIRE_INVALID;
  auto expected = phase::before;
  if (!api::g_phase.compare_exchange_strong(expected, phase::starting)) return QUIRE_EXISTS;
  (void)quire_thread();  // the first one
  auto r = std::make_unique<runtime>();
  auto why = api::read_settings(*r, given);
  if (why.ok()) {
    const bool split =
        r->options.choice<quire::base::pool_choice>(quire::base::option::pool) == quire::base::pool_choice::fork;
    why = split ? api::start_split(std::move(r), given) : api::start_here(std::move(r), given);
  }
  if (!why.ok() && api::g_phase.load() != phase::running) api::g_phase.store(phase::ended);
  return why.code();
}

quire_status quire_run_heap(void) {
  if (quire::api::g_phase.load() != phase::before) return QUIRE_EXISTS;
  quire::api::g_runs_heap.store(true);
  return QUIRE_OK;
}

quire_status quire_leave(void) { return quire::api::leave(); }

quire_status quire_end(void) { return quire::api::end(quire::api::threads_left::none); }
quire_status quire_end_at_exit(void) { return quire::api::end(quire::api::threads_left::to_hold); }

int quire_node(void) {
  if (const auto* there = quire::api::elsewhere()) return there->both().node;
  const runtime* r = quire::api::current();
  return r != nullptr ? r->job->node() : 0;
}

int quire_nodes(void) {
  if (const auto* there = quire::api::elsewhere()) return there->both().nodes;
  const runtime* r = quire::api::current();
  return r != nullptr ? r->job->nodes() : 1;
}

int quire_thread(void) {
  if (const int served = quire::split::thread_served(); served >= 0) {
    quire::core::number_thread(static_cast<std::uint32_t>(served));
    return served;
  }
  static std::atomic<int> next{0};
  static thread_local int number = [] {
    const int mine = next.fetch_add(1);
    quire::core::number_thread(static_cast<std::uint32_t>(mine));
    return mine;
  }();
  return number;
}
