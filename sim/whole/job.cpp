// SPDX-License-Identifier: BSD-3-Clause
// The plan of a seed, and the life of a thread.
#include "sim/whole/job.hpp"

#include <quire/system.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "core/counters.hpp"
#include "core/diffs.hpp"
#include "core/frames.hpp"
#include "core/plans/planner.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/unit_calls.hpp"
#include "protocol/release/node.hpp"

namespace quire::whole {

using sync::operation;

namespace {
/// Where nodes are on hosts, flags carry nothing if all are on one.
int orders_of(const job_options& o) noexcept { return !o.turns ? 0 : o.host_nodes != 0 ? QUIRE_ORDERS_APART : 1; }

constexpr std::uint64_t granule = std::uint64_t{2} << 20, word_bytes = sizeof(std::uint64_t);
}  // namespace

job::job(const job_options& options)
    : options_(options), draw_(sim::mix(options.seed ^ 0x3073)), world_(draw_options()) {
  pages_ = static_cast<unsigned>(draw_.between(options.least_pages, options.most_pages));
  steps_ = 5 + static_cast<unsigned>(draw_.below(options.most_steps));
  core::region_description first = describe(free_words, QUIRE_SEQUENTIAL);
  first.orders = static_cast<std::uint8_t>(orders_of(options));  // messages of no region have its number
  world_.add_region(first);
  quire_consistency last = QUIRE_SEQUENTIAL;
  for (unsigned r = locked; r < regions; ++r) {
    last = draw_consistency(options.races_only ? 100 : 70);
    core::region_description about = describe(r, last);
    about.orders =
        static_cast<std::uint8_t>(orders_of(options));  // of release consistency: homes move between barriers, too
    world_.add_region(about);
  }
  constexpr sync::object_kind kinds[] = {sync::object_kind::mutex, sync::object_kind::mutex, sync::object_kind::rwlock,
                                         sync::object_kind::semaphore};
  locks_.resize(1 + draw_.below(4));
  for (auto& l : locks_) {
    l.kind = kinds[draw_.below(std::size(kinds))];
    l.node = static_cast<unsigned>(draw_.below(options.nodes));
  }
  for (unsigned n = 0; n < options.nodes; ++n) {
    threads_.push_back(1 + static_cast<unsigned>(draw_.below(options.most_threads)));
    all_threads_ += threads_.back();
  }
  plan_phases();
  plan_others(last);
  plan_turns();
}

job::~job() = default;

void job::plan_phases() {
  phases_.resize(1 + draw_.below(options_.most_phases));
  for (auto& p : phases_) {
    p.kind = static_cast<phase_kind>(draw_.below(static_cast<unsigned>(phase_kind::last) + 1));
    p.what = static_cast<meeting>(draw_.below(static_cast<unsigned>(meeting::last) + 1));
    p.node = static_cast<unsigned>(draw_.below(options_.nodes));
    p.checked = draw_.chance(50);
    if (options_.rotates) p.kind = (&p - phases_.data()) % 2 == 0 ? phase_kind::alone : phase_kind::plain;
    if (options_.races_only) p.what = meeting::barrier;
    if (options_.blocks) {
      p.kind = phase_kind::block;
      p.checked = true;
    }
    // A block takes one memory apart, and who says that all have it has no blocks.
    if (orders_of(options_) == QUIRE_ORDERS_APART && p.kind == phase_kind::block) p.kind = phase_kind::plain;
    if (replicas_ && (p.kind == phase_kind::block || p.kind == phase_kind::produced)) p.kind = phase_kind::plain;
    if (replicas_ && (p.what == meeting::change || p.what == meeting::hold)) p.what = meeting::barrier;
    for (std::uint64_t i = draw_.below(3); options_.nodes > 1 && i != 0; --i) {
      const auto a = static_cast<unsigned>(draw_.below(options_.nodes)),
                 b = static_cast<unsigned>(draw_.below(options_.nodes));
      // Words of its own: nobody knows what is in them afterwards.
      if (a != b)
        p.overlaps.push_back(
            {address(phased, draw_.below(pages_), 64 + static_cast<std::uint64_t>(&p - phases_.data()) * 4 + i), a, b});
    }
  }
}

void job::plan_others(quire_consistency raced_one) {
  groups_options g;
  g.count = options_.most_groups == 0 || options_.races_only
                ? 0
                : static_cast<unsigned>(draw_.below(options_.most_groups + 1));
  g.flags_only = options_.flags_only;
  g.base = address(handed, 0, 0);
  g.pages = pages_;
  g.page_bytes = page_bytes();
  groups_ = std::make_unique<groups>(world_, g, draw_.next());
  races_options r;
  r.base = address(raced, 0, 0);
  r.pages = pages_;
  r.page_bytes = page_bytes();
  r.threads = all_threads_;
  r.in_order = in_order_ && options_.races_only;
  r.sequential = raced_one == QUIRE_SEQUENTIAL;
  races_ = std::make_unique<races>(world_, r);
  comings_options k;
  k.phases = static_cast<unsigned>(phases_.size());
  k.most = options_.races_only ? 0 : options_.most_comings;
  k.threads = all_threads_;
  k.nodes = options_.nodes;
  k.unit_bytes = unit_;
  k.replicas = replicas_;
  k.scans_percent = scan_percent_;
  comings_ = std::make_unique<comings>(world_, k, draw_.next());
}

/// Words beside those of locks, in the region whose consistency changes.
void job::plan_turns() {
  turns_options o;
  if (options_.turns) {
    core::region_description about = describe(flags, QUIRE_SEQUENTIAL);
    about.orders = static_cast<std::uint8_t>(orders_of(options_));
    world_.add_region(about);
    o.count = 1 + static_cast<unsigned>(draw_.below(4));
  }
  o.flags = address(flags, 0, 0);
  o.base = address(locked, 0, 0);
  o.pages = pages_;
  o.page_bytes = page_bytes();
  o.threads = all_threads_;
  turns_ = std::make_unique<turns>(world_, o);
}

world_options job::draw_options() {
  world_options o;
  replicas_ = options_.nodes <= 64 && draw_.chance(options_.replicas_percent);
  draw_network(o.net);
  o.think = draw_.chance(50) ? 3'000 : 30'000;
  o.queued_percent = draw_.chance(50) ? 30 : 0;
  o.unmapped_permille = draw_.chance(30) ? 10 : 0;
  scan_percent_ = !replicas_ && draw_.chance(options_.scans_percent) ? 50 : 0;
  unit_ = 4096u << (draw_.chance(70) ? 0 : draw_.below(3));
  o.node.read_ahead = draw_.chance(70);
  o.node.learn_writes = draw_.chance(70);
  o.node.move_homes = options_.rotates || draw_.chance(80);
  o.node.updates = draw_.chance(80);
  if (sim::mix(options_.seed + 1) % 3 == 0) o.node.migratory = protocol::migratory::always;
  constexpr protocol::traced traced[] = {protocol::traced::all, protocol::traced::shared};
  const std::uint64_t drawn = sim::mix(options_.seed + 2);
  if (drawn % 4 == 0) o.node.races = traced[drawn / 4 % 2];
  o.node.survives = o.node.replicas = replicas_;
  draw_memory(o);
  o.intruding_percent = options_.intrudes && sim::mix(options_.seed) % 2 == 0 ? 25 : 0;
  for (unsigned n = 0; options_.host_nodes != 0 && n < options_.nodes; ++n)
    o.node.hosts.push_back(static_cast<std::uint16_t>(n / options_.host_nodes * options_.host_nodes));
  in_order_ = !o.net.reads_late && !o.node.pages_out;
  return o;
}

void job::draw_network(sim::network_options& net) {
  net.seed = options_.seed;
  net.nodes = options_.nodes;
  net.step_limit = options_.step_limit;
  net.straggler_percent = draw_.chance(40) ? 5 + static_cast<unsigned>(draw_.below(20)) : 0;
  net.straggler_delay = draw_.chance(50) ? 100'000 : 500'000;
  net.min_delay = draw_.chance(20) ? 0 : net.min_delay;
  net.max_delay = draw_.chance(15) ? 200'000 : net.max_delay;
  net.reads_late = draw_.chance(50);
  net.reorder_within_pairs = options_.reorders;
}

void job::draw_memory(world_options& o) {
  core::configuration& c = o.node;
  if (draw_.chance(30)) c.notice_limit = 1 + draw_.below(12);
  if (draw_.chance(options_.few_twins_percent))
    c.twin_bytes = std::uint64_t{4096} << draw_.below(5);  // less than a unit, too
  if (replicas_ || !draw_.chance(options_.short_percent)) return;
  c.memory_limit = std::uint64_t{unit_} * (16 + draw_.below(8));
  c.pages_out = true;
  o.limited_percent = options_.host_nodes == 0 ? 60 : 100;  // of a host all nodes, or none
  o.store_delay = draw_.chance(50) ? 20'000 : 500'000;
  o.store_fails_percent = draw_.chance(30) ? 20 : 0;
}

quire_consistency job::draw_consistency(unsigned release_percent) {
  return !replicas_ && draw_.chance(release_percent) ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
}

core::region_description job::describe(unsigned number, quire_consistency consistency) {
  core::region_description about;
  about.id = static_cast<std::uint16_t>(number);
  about.base = base_address + number * granule;
  about.unit_bytes = unit_;
  about.bytes = pages_ * page_bytes();
  about.home = static_cast<std::uint16_t>(draw_.below(options_.nodes));
  constexpr quire_placement places[] = {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE,
                                        QUIRE_PLACE_FIRST_TOUCH};
  about.placement = static_cast<std::uint8_t>(places[draw_.below(std::size(places))]);
  about.consistency = static_cast<std::uint8_t>(consistency);
  // Not where threads look at a word by atomic operations until it changes: this detector knows no thread that loses a
  // unit unused, and who reads beside that word may fault for as long as they look.
  if (!replicas_ && number != handed && draw_.chance(15)) about.detector = QUIRE_DETECT_USERFAULT_THREAD;
  if (consistency == QUIRE_RELEASE && draw_.chance(scan_percent_)) {
    about.detector = QUIRE_DETECT_SCAN;
    scanned_ |= number == locked;
  }
  return about;
}

std::uint64_t job::address(unsigned region, std::uint64_t page, std::uint64_t word) const {
  return base_address + region * granule + page * page_bytes() + word * word_bytes;
}

std::string job::run() {
  make_lock(0);
  std::string wrong = world_.run();
  for (unsigned n = 0; n < world_.nodes(); ++n) count(world_.at(n));
  done_["races"] += races_->reads_of_others();
  done_["turns"] += turns_->taken();
  done_["regions that went"] += comings_->gone();
  done_["regions at old addresses"] += comings_->again();
  done_["group threads"] += groups_->threads();
  return wrong;
}

void job::count(node& n) {
  const core::core& c = n.core();
  done_["written to stores"] += c.frames.count.written;
  done_["read from stores"] += c.frames.count.read;
  done_["fills"] += n.crew().count().fills;
  done_["fills that a driver waits for"] += n.crew().count().awaited;
  done_["failed writes"] += n.crew().count().failed;
  const auto release = core::release_counters(c.regions, c.gone);
  done_["home moves"] += release.home_moves;
  done_["migrated"] += release.migrated;
  done_["planned"] += c.planner.count().asked;
  done_["planned in vain"] += c.planner.count().unused;
  done_["updates"] += release.updates_applied;
  done_["kept units"] += release.kept;
  done_["forwarded"] += release.forwarded;
  done_["patches"] += c.diffs.count().patches;
  done_["packings"] += c.consistency.known().packed();
  done_["told early"] += c.consistency.count().told_early;
  done_["kept back"] += c.consistency.count().kept_back;
  done_["early diffs"] += c.consistency.count().early_diffs;
  const auto sequential = core::sequential_counters(c.regions, c.gone);
  done_["copies given up"] += release.copies_dropped + sequential.copies_dropped;
  done_["pin waits"] += release.pin_waits + sequential.pin_waits;
  done_["replicas"] += sequential.replicas_sent;
  done_["units in frames of a host"] += sequential.host_units;
  done_["units of one memory"] += release.host_units + sequential.one_memory_units;
}

/// One after the other, each on its node; then everything else.
void job::make_lock(std::size_t number) {
  const bool all = number == locks_.size();
  world_.start(all ? 0 : locks_[number].node, [this, all, number, seed = draw_.next()](node& here) {
    actor maker(world_, here, 1, seed);
    if (all) return make_others(maker);
    lock& l = locks_[number];
    const auto what = l.kind == sync::object_kind::mutex    ? operation::mutex_create
                      : l.kind == sync::object_kind::rwlock ? operation::rwlock_create
                                                            : operation::semaphore_create;
    l.object = maker.create(what, 1);
    make_lock(number + 1);
  });
}

void job::make_others(actor& maker) {
  barrier_ = maker.create(operation::barrier_create, all_threads_);
  groups_->begin(maker);
  unsigned place = 0;
  for (unsigned n = 0; n < world_.nodes(); ++n) {
    for (unsigned number = 1; number <= threads_[n]; ++number) {
      world_.start(n, [this, number, place, seed = draw_.next()](node& at) {
        thread t(world_, at, number, place, seed);
        live(t);
      });
      ++place;
    }
  }
}

void job::live(thread& t) {
  for (unsigned p = 0; p < phases_.size() && !world_.failed(); ++p) {
    if (comings_->any()) {
      comings_->begin(t, t.place, p);
      t.must_call(operation::barrier_wait, barrier_);
    }
    if (options_.plans && t.leads()) t.here.core().planner.begin(p % 2 + 1);
    do_phase(t, p);
    t.must_call(operation::barrier_wait, barrier_);
    if (!options_.rotates) continue;
    if (t.leads()) t.must_call(operation::barrier_wait, 0);
    t.must_call(operation::barrier_wait, barrier_);
  }
  if (t.place == 0) groups_->join(t);
  t.must_call(operation::barrier_wait, barrier_);
  look_at_all(t);
  // Nobody leaves while others look.
  t.must_call(operation::barrier_wait, barrier_);
}

void job::do_phase(thread& t, unsigned number) {
  phase& p = phases_[number];
  const unsigned when = t.leads() ? static_cast<unsigned>(t.draw.below(steps_)) : ~0u;
  const bool in_block = p.kind == phase_kind::block;
  if (in_block) {
    if (t.leads()) begin_block(t, p);
    t.must_call(operation::barrier_wait, barrier_);
  }
  const bool produces = p.kind == phase_kind::produced && t.leads() && p.node == t.node_number();
  if (produces)
    t.must(t.here.core().calls.produce(address(phased, 0, 0), pages_ * page_bytes(), false),
           "the begin of a production phase");
  for (unsigned i = 0; i < steps_ && !world_.failed(); ++i) {
    t.rest();
    if (i == when) in_block ? write_overlaps(t, p) : meet(t, number);
    step(t, number);
  }
  if (produces) {
    t.must(t.here.core().calls.produce(address(phased, 0, 0), pages_ * page_bytes(), true),
           "the end of a production phase");
    ++done_["productions"];
  }
  if (in_block) {
    t.must_call(operation::barrier_wait, barrier_);
    if (t.leads()) end_block(t, p);
  }
}

bool job::may_write(const thread& t, unsigned phase) const noexcept {
  return phases_[phase].kind != phase_kind::alone || phases_[phase].node == t.node_number();
}

void job::look_at_all(thread& t) {
  const auto all = world_.all_written();
  const std::uint64_t common = address(raced, 0, 0);
  for (const auto& [at, value] : all) {
    if (world_.failed()) return;
    if (at < common || !races_->is_common(at)) (void)t.read(at);
  }
  races_->look_at_all(t);
}

}  // namespace quire::whole
