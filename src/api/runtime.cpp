// Start and end of a job on this node.
#include "api/runtime.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>

#include "api/counters.hpp"
#include "api/names.hpp"
#include "api/threads.hpp"
#include "base/log.hpp"
#include "os/injection.hpp"
#include "transport/loopback/loopback.hpp"
#include "transport/open.hpp"

namespace quire::api {
namespace {

enum class phase : int { before, starting, running, ended };
std::atomic<phase> g_phase{phase::before};
std::atomic<runtime*> g_runtime{nullptr};
std::atomic<bool> g_forked{false};

/// Spinning helps only while every node of this host, and its service thread, can have a core of its own.
engine::driver_tuning tune(const base::option_values& options, int local_nodes) {
  engine::driver_tuning t;
  cpu_set_t cores;
  const int available = ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
  const std::int64_t spin_us = options.number(base::option::spin_us);
  if (spin_us != base::spin_automatic) {
    t.spin_ns = t.service_spin_ns = static_cast<std::uint64_t>(spin_us) * 1000;
  } else if (local_nodes <= available) {
    t.spin_ns = 50'000;
    t.service_spin_ns = 20'000;
  }
  return t;
}

pool::settings choose_pool(const base::option_values& options) {
  pool::settings s;
  s.which = static_cast<pool::kind>(options.number(base::option::pool));
  s.directory = options.text(base::option::pool_dir);
  s.written = options.choice<base::fill_choice>(base::option::pool_fill) == base::fill_choice::write;
  return s;
}

/// What the machine and the pool allow, unless the user or the program asked for something.
base::status choose_detector(const base::option_values& options, int asked, const pool::settings& pool, detect::kind& kind) {
  static constexpr detect::kind kinds[] = {detect::kind::userfault_inline, detect::kind::userfault_thread, detect::kind::segv};
  if (options.given(base::option::detect)) asked = static_cast<int>(options.number(base::option::detect));
  if (asked < QUIRE_DETECT_DEFAULT || asked > QUIRE_DETECT_SEGV) return QUIRE_BAD_OPTION;
  if (asked != QUIRE_DETECT_DEFAULT) {
    kind = kinds[asked - 1];
    if (kind == detect::kind::segv || pool::takes_userfault(pool)) return {};
    base::log(base::log_level::error, "userfaultfd cannot watch pool '%s'%s; set QUIRE_DETECT to segv",
              pool::name_of(pool.which), pool.which == pool::kind::file ? " unless its directory is a tmpfs" : "");
    return QUIRE_BAD_OPTION;
  }
  kind = pool::takes_userfault(pool) ? detect::kind::userfault_inline : detect::kind::segv;
  if (kind == detect::kind::segv) {
    base::log(base::log_level::info, "pool '%s' goes with detector 'segv' only", pool::name_of(pool.which));
    return {};
  }
  if (detect::open(kind, true).ok()) return {};
  kind = detect::kind::segv;
  base::log(base::log_level::warning,
            "this system has no userfaultfd for shared memory (see `quire info`): faults are noticed by SIGSEGV and mprotect, "
            "with at most vm.max_map_count changes of protection between neighbouring pages");
  return {};
}

base::result<std::unique_ptr<transport::transport>> open_transport(const base::option_values& options,
                                                                    const bootstrap::bootstrap& job) {
  if (job.nodes() == 1) {
    return transport::loopback::open(std::make_shared<transport::loopback::hub>(1), model::node_id{0});
  }
  static constexpr std::string_view kinds[] = {"auto", "shm", "tcp"};
  return transport::open(kinds[options.number(base::option::transport)], job.local_nodes() == job.nodes());
}

base::status connect(runtime& r, transport::transport& wire) {
  auto addresses = r.job->exchange(wire.address());
  if (!addresses.ok()) return addresses.why();
  std::vector<std::span<const std::byte>> views(addresses.value().begin(), addresses.value().end());
  return wire.connect(r.core->config().self, views, *r.core);
}

base::status begin(runtime& r, const quire_options& given) {
  std::string why;
  auto options = base::read_options(environ, why);
  if (!options.ok()) {
    base::log(base::log_level::error, "%s", why.c_str());
    return options.why();
  }
  r.options = options.value();
  base::log_set_level(r.options.choice<base::log_level>(base::option::log));
  if (!os::inject_from_environment()) {
    base::log(base::log_level::error, "QUIRE_FAIL must be CALL:N or CALL:N:ERRNO, with a call that src/os/injection.hpp names");
    return QUIRE_BAD_OPTION;
  }
  auto job = bootstrap::join();
  if (!job.ok()) return job.why();
  r.job = std::move(job.value());
  base::log_set_node(r.job->node());

  engine::configuration c;
  const auto pick = [&](base::option which, std::uint64_t program) {
    return program != 0 && !r.options.given(which) ? program : static_cast<std::uint64_t>(r.options.number(which));
  };
  c.self = model::node_id{static_cast<std::uint16_t>(r.job->node())};
  c.nodes = static_cast<unsigned>(r.job->nodes());
  c.base = pick(base::option::base, given.base);
  c.bytes = pick(base::option::range, given.range_bytes);
  c.read_ahead = r.options.flag(base::option::read_ahead);
  c.tuning = tune(r.options, r.job->local_nodes());
  if (c.base % (2u << 20) != 0 || c.bytes % (2u << 20) != 0) {
    base::log(base::log_level::error, "base and range of the shared addresses must be multiples of 2 MiB");
    return QUIRE_BAD_OPTION;
  }
  c.pool = choose_pool(r.options);
  if (const auto s = choose_detector(r.options, given.detector, c.pool, c.detector); !s.ok()) return s;
  auto wire = open_transport(r.options, *r.job);
  if (!wire.ok()) return wire.why();
  transport::transport& wire_ref = *wire.value();
  r.core = std::make_unique<engine::engine>(c, std::move(wire.value()), *r.job);
  if (const auto s = r.core->open(); !s.ok()) return s;
  r.regions = std::make_unique<region::registry>(*r.core);
  r.names = std::make_unique<name_service>(*r.core);
  r.threads = std::make_unique<thread_service>(*r.core);
  if (const auto s = r.regions->open(static_cast<std::uint32_t>(r.options.number(base::option::unit))); !s.ok()) return s;
  if (const auto s = connect(r, wire_ref); !s.ok()) return s;
  r.core->start();
  return {};
}

}  // namespace

runtime::runtime() = default;
runtime::~runtime() = default;

runtime* current() noexcept {
  return g_forked.load(std::memory_order_relaxed) ? nullptr : g_runtime.load(std::memory_order_acquire);
}

runtime* enter(base::status& why) noexcept {
  runtime* const r = g_runtime.load(std::memory_order_acquire);
  if (g_forked.load(std::memory_order_relaxed)) {
    why = QUIRE_FORKED;
    return nullptr;
  }
  if (r == nullptr) why = QUIRE_NOT_STARTED;
  return r;
}

}  // namespace quire::api

using quire::api::phase;
using quire::api::runtime;

quire_status quire_start(const quire_options* options) {
  namespace api = quire::api;
  if (api::g_forked.load()) return QUIRE_FORKED;
  quire_options given{};
  if (options != nullptr) {
    if (options->size == 0 || options->size > sizeof given) return QUIRE_INVALID;
    std::memcpy(&given, options, options->size);
  }
  auto expected = phase::before;
  if (!api::g_phase.compare_exchange_strong(expected, phase::starting)) return QUIRE_EXISTS;
  auto r = std::make_unique<runtime>();
  const auto why = api::begin(*r, given);
  if (!why.ok()) {
    api::g_phase.store(phase::ended);
    return why.code();
  }
  ::pthread_atfork(nullptr, nullptr, [] { api::g_forked.store(true); });
  api::g_runtime.store(r.release(), std::memory_order_release);
  api::g_phase.store(phase::running);
  return quire_barrier_wait(quire_barrier{0});
}

quire_status quire_end(void) {
  namespace api = quire::api;
  QUIRE_ENTER(r);
  r->core->expect_end();
  if (const auto why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) return why;
  const std::string numbers = api::counters_json(*r);
  api::g_phase.store(phase::ended);
  api::g_runtime.store(nullptr);
  r->core->stop();
  const auto flushed = r->core->wire().flush(10'000);
  r->job->leave(numbers);
  delete r;
  return flushed.code();
}

int quire_node(void) {
  const runtime* r = quire::api::current();
  return r != nullptr ? r->job->node() : 0;
}

int quire_nodes(void) {
  const runtime* r = quire::api::current();
  return r != nullptr ? r->job->nodes() : 1;
}

int quire_thread(void) {
  static std::atomic<int> next{0};
  static thread_local int number = next.fetch_add(1);
  return number;
}
