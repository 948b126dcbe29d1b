// SPDX-License-Identifier: BSD-3-Clause
#include "api/settings.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/option_rules.hpp"
#include "core/configuration.hpp"
#include "model/membership.hpp"
#include "os/injection.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "split/begin.hpp"

namespace quire::api {

namespace {
pool::settings choose_pool(const base::option_values& options, std::uint64_t largest) {
  pool::settings s;
  s.which = options.given(base::option::pool) ? static_cast<pool::kind>(options.number(base::option::pool))
                                              : pool::usual(largest);
  if (s.which == pool::kind::mdup && !options.given(base::option::pool))
    base::log(base::log_level::info, "pool '%s', which has no transactions%s", pool::name_of(s.which),
              os::explain(os::shortage::file_size).text);
  s.directory = options.text(base::option::pool_dir);
  s.written = options.choice<base::fill_choice>(base::option::pool_fill) == base::fill_choice::write;
  return s;
}

/// How much of what containers keep may be in memory, where QUIRE_MEMORY_LIMIT does not say it of everything.
void choose_cache_limit(const runtime& r, core::configuration& c) {
  const auto given = static_cast<std::uint64_t>(r.options.number(base::option::cache_limit));
  constexpr std::uint64_t least = 64u << 20;  // of a host that is short of memory, or does not say
  c.cache_limit = given;
  if (given != 0 || c.memory_limit != 0) return;
  c.cache_limit =
      std::max(least, os::available_bytes() / 2 / static_cast<std::uint64_t>(std::max(r.job->local_nodes(), 1)));
}

protocol::traced traced_by(const base::option_values& options) {
  const auto check = options.choice<base::check_choice>(base::option::check);
  if (check == base::check_choice::all_races) return protocol::traced::all;
  return check == base::check_choice::races ? protocol::traced::shared : protocol::traced::nothing;
}
}  // namespace

int cores() noexcept {
  cpu_set_t mine;
  return ::sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

drive::pace pace_of(const base::option_values& options, int local_nodes) {
  drive::pace t;
  const int available = cores();
  t.cores = available / std::max(local_nodes, 1);
  const std::int64_t spin_us = options.number(base::option::spin_us);
  if (spin_us != base::spin_automatic) {
    t.spin_ns = t.service_spin_ns = static_cast<std::uint64_t>(spin_us) * 1000;
  } else {
    t.spin_ns = local_nodes <= 2 * available ? 1'000'000 : 0;
    t.service_spin_ns = local_nodes <= available ? 20'000 : 0;
  }
  if (t.cores == 0) t.share_cores();
  return t;
}

base::status read_settings(runtime& r, const quire_options& given) {
  std::string why;
  auto options = base::read_options(environ, why);
  if (!options.ok()) {
    base::log(base::log_level::error, "%s", why.c_str());
    return options.why();
  }
  r.options = options.value();
  base::log_set_level(r.options.choice<base::log_level>(base::option::log));
  if (!os::inject_from_environment()) {
    base::log(base::log_level::error,
              "QUIRE_FAIL must be CALL:N or CALL:N:ERRNO, with a call that src/os/injection.hpp names");
    return QUIRE_BAD_OPTION;
  }
  const auto pick = [&](base::option which, const char* field, std::uint64_t program,
                        std::uint64_t& to) -> base::status {
    const bool asked = program != 0 && !r.options.given(which);
    to = asked ? program : static_cast<std::uint64_t>(r.options.number(which));
    if (!asked || (program <= INT64_MAX && base::is_legal(base::row_of(which), static_cast<std::int64_t>(program))))
      return {};
    base::log(base::log_level::error, "quire_options.%s = 0x%lx is not allowed; it may be %s", field,
              static_cast<unsigned long>(program), base::row_of(which).legal);
    return QUIRE_BAD_OPTION;
  };
  if (const base::option_rule* const broken = base::broken_rule(r.options); broken != nullptr) {
    base::log(base::log_level::error, "%s", broken->why);
    return broken->status;
  }
  if (const auto s = pick(base::option::base, "base", given.base, r.base); !s.ok()) return s;
  return pick(base::option::range, "range_bytes", given.range_bytes, r.bytes);
}

base::status refuse_survival(const char* what) {
  base::log(base::log_level::error,
            "a job with %s cannot go on when a node is lost: leave that out, or set QUIRE_ON_FAILURE to end", what);
  return QUIRE_UNSUPPORTED;
}

base::status check_survival(const runtime& r, const core::configuration& c) {
  if (!c.survives) return {};
  if (c.nodes > model::membership::most_nodes) return refuse_survival("more than 64 nodes");
  if (c.detector == detect::kind::userfault_thread) return refuse_survival("detector 'thread'");
  for (const protocol::row* const p : c.protocols) {
    const bool of_heap = p->id.value() == static_cast<std::uint8_t>(r.options.number(base::option::consistency));
    if (of_heap && p->can.survive && c.replicas && !p->can.replicas)
      return refuse_survival(("a heap with " + std::string(p->name) + " consistency and replicas").c_str());
    if (of_heap && !p->can.survive) return refuse_survival((std::string(p->name) + " consistency").c_str());
  }
  return {};
}

void configure(runtime& r, core::configuration& c) {
  c.self = model::node_id{static_cast<std::uint16_t>(r.job->node())};
  c.nodes = static_cast<unsigned>(r.job->nodes());
  c.base = r.base;
  c.bytes = r.bytes;
  if (r.options.choice<base::commit_choice>(base::option::commit) == base::commit_choice::token)
    c.protocols = protocol::with_token();
  c.read_ahead = r.options.flag(base::option::read_ahead);
  c.plans = r.options.flag(base::option::plans);
  c.lock_plans = r.options.flag(base::option::lock_plans);
  c.read_lines = r.options.flag(base::option::read_lines);
  c.write_ahead = r.options.flag(base::option::write_ahead);
  c.learn_writes = r.options.flag(base::option::learn_writes);
  c.races = traced_by(r.options);
  // What gets the right to write before a thread asks for it has no line of the program.
  const bool traces = c.races != protocol::traced::nothing;
  if (traces) c.plans = c.lock_plans = c.learn_writes = false;
  c.sharing = r.options.flag(base::option::sharing) || (!traces && !r.options.text(base::option::report).empty());
  c.restart_every = static_cast<std::uint64_t>(r.options.number(base::option::restart_every));
  c.pin_limit = static_cast<std::size_t>(r.options.number(base::option::pin_limit));
  c.move_homes = r.options.flag(base::option::move_homes);
  // Both add work to each section of code under a lock whose pages are all noticed: locks then meet more often, and are
  // given away more often (bench/check).
  c.updates = r.options.flag(base::option::updates) && !traces;
  if (!r.options.flag(base::option::migratory) || traces)
    c.migratory = protocol::migratory::never;
  else if (c.sharing)
    c.migratory = protocol::migratory::watched;
  c.twin_bytes = static_cast<std::uint64_t>(r.options.number(base::option::twin_limit));
  c.memory_limit = static_cast<std::uint64_t>(r.options.number(base::option::memory_limit));
  choose_cache_limit(r, c);
  c.page_out_directory = r.options.text(base::option::page_out_dir);
  c.write_back_ns = static_cast<std::uint64_t>(r.options.number(base::option::write_back)) * 1'000'000'000;
  c.peer_limit_ns = static_cast<std::uint64_t>(r.options.number(base::option::peer_timeout)) * 1'000'000'000;
  c.survives = r.options.choice<base::failure_choice>(base::option::on_failure) == base::failure_choice::notify;
  c.pool = choose_pool(r.options, r.bytes / 2);
  if (auto* const split = split::engine_here()) {
    c.pool.application = split;
    c.program_stopped = []() noexcept { return split::engine_here()->application_stopped(); };
  }
}

region::heap_settings heap_of(const base::option_values& options) {
  return {.unit_bytes = static_cast<std::uint32_t>(options.number(base::option::unit)),
          .consistency = static_cast<quire_consistency>(options.number(base::option::consistency)),
          .orders = static_cast<int>(options.number(base::option::orders)),
          .free_batch = static_cast<std::size_t>(options.number(base::option::free_batch)),
          .views = static_cast<std::uint16_t>(options.number(base::option::heap_views)),
          .grouping = static_cast<quire_grouping>(options.number(base::option::heap_grouping)),
          .guards = options.choice<base::check_choice>(base::option::check) == base::check_choice::minipages};
}

}  // namespace quire::api
