// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/job.hpp"

#include <algorithm>
#include <cstring>

#include "core/job_call.hpp"
#include "model/atomic_operation.hpp"

namespace quire::whole {

using sync::operation;

namespace {
constexpr std::uint64_t granule = std::uint64_t{2} << 20, word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t words_of_lock = 4;  ///< in each page
}  // namespace

job::job(const job_options& options) : options_(options), draw_(sim::mix(options.seed ^ 0x3073)), world_(draw_options(options)) {
  pages_ = 1 + static_cast<unsigned>(draw_.below(options.most_pages));
  steps_ = 5 + static_cast<unsigned>(draw_.below(options.most_steps));
  world_.add_region(describe(free_words, QUIRE_SEQUENTIAL));
  for (unsigned r = locked; r < regions; ++r) world_.add_region(describe(r, draw_consistency(70)));
  constexpr sync::object_kind kinds[] = {sync::object_kind::mutex, sync::object_kind::mutex, sync::object_kind::rwlock, sync::object_kind::semaphore};
  locks_.resize(1 + draw_.below(4));
  for (auto& l : locks_) l.kind = kinds[draw_.below(std::size(kinds))];
  for (unsigned n = 0; n < options.nodes; ++n) {
    threads_.push_back(1 + static_cast<unsigned>(draw_.below(options.most_threads)));
    all_threads_ += threads_.back();
  }
  phases_.resize(1 + draw_.below(options.most_phases));
  for (auto& p : phases_) {
    p.kind = static_cast<phase_kind>(draw_.below(static_cast<unsigned>(phase_kind::last) + 1));
    p.what = static_cast<meeting>(draw_.below(static_cast<unsigned>(meeting::last) + 1));
    p.producer = static_cast<unsigned>(draw_.below(options.nodes));
    p.checked = draw_.chance(50);
    if (options.blocks) {
      p.kind = phase_kind::block;
      p.checked = true;
    }
    for (std::uint64_t i = draw_.below(3); options.nodes > 1 && i != 0; --i) {
      const auto a = static_cast<unsigned>(draw_.below(options.nodes)), b = static_cast<unsigned>(draw_.below(options.nodes));
      // Words of its own: nobody knows what is in them afterwards.
      if (a != b) p.overlaps.push_back({address(phased, draw_.below(pages_), 64 + static_cast<std::uint64_t>(&p - phases_.data()) * 4 + i), a, b});
    }
  }
}

world_options job::draw_options(const job_options& given) {
  world_options o;
  o.net.seed = given.seed;
  o.net.nodes = given.nodes;
  o.net.straggler_percent = draw_.chance(30) ? 5 : 0;
  o.net.reads_late = draw_.chance(50);
  o.think = draw_.chance(50) ? 3'000 : 30'000;
  o.queued_percent = draw_.chance(50) ? 30 : 0;
  scan_percent_ = draw_.chance(given.pins_percent != 0 ? 80 : 30) ? 50 : 0;
  unit_ = 4096u << (draw_.chance(70) ? 0 : draw_.below(3));
  o.node.read_ahead = draw_.chance(70);
  o.node.learn_writes = draw_.chance(70);
  o.node.move_homes = draw_.chance(80);
  o.node.updates = draw_.chance(80);
  if (draw_.chance(30)) o.node.twin_bytes = std::uint64_t{4096} << draw_.below(5);  // less than a unit, too
  if (draw_.chance(30)) {
    o.node.memory_limit = std::uint64_t{unit_} * (16 + draw_.below(8));
    o.node.pages_out = true;
    o.limited_percent = 60;
  }
  return o;
}

quire_consistency job::draw_consistency(unsigned release_percent) { return draw_.chance(release_percent) ? QUIRE_RELEASE : QUIRE_SEQUENTIAL; }

core::region_description job::describe(unsigned number, quire_consistency consistency) {
  core::region_description about;
  about.id = static_cast<std::uint16_t>(number);
  about.base = base_address + number * granule;
  about.unit_bytes = unit_;
  about.bytes = pages_ * page_bytes();
  about.home = static_cast<std::uint16_t>(draw_.below(options_.nodes));
  constexpr quire_placement places[] = {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE, QUIRE_PLACE_FIRST_TOUCH};
  about.placement = static_cast<std::uint8_t>(places[draw_.below(std::size(places))]);
  about.consistency = static_cast<std::uint8_t>(consistency);
  if (draw_.chance(15)) about.detector = QUIRE_DETECT_USERFAULT_THREAD;
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
  world_.start(0, [this](node& here) { make_objects(here); });
  return world_.run();
}

void job::make_objects(node& here) {
  thread maker{here, 1, 0, sim::random(draw_.next())};
  for (auto& l : locks_) {
    const auto what = l.kind == sync::object_kind::mutex ? operation::mutex_create
                      : l.kind == sync::object_kind::rwlock ? operation::rwlock_create
                                                            : operation::semaphore_create;
    must(call(maker, what, l.object, 1), "the creation of a lock");
  }
  must(call(maker, operation::barrier_create, barrier_, all_threads_), "the creation of a barrier");
  unsigned place = 0;
  for (unsigned n = 0; n < world_.nodes(); ++n) {
    for (unsigned t = 0; t < threads_[n]; ++t) {
      world_.start(n, [this, t, place, seed = draw_.next()](node& at) { live({at, t + 1, place, sim::random(seed)}); });
      ++place;
    }
  }
}

void job::live(thread t) {
  for (unsigned p = 0; p < phases_.size() && !world_.failed(); ++p) {
    do_phase(t, p);
    must(call(t, operation::barrier_wait, barrier_), "a barrier");
  }
  look_at_all(t);
  // Nobody leaves while others look.
  must(call(t, operation::barrier_wait, barrier_), "the last barrier");
}

void job::do_phase(thread& t, unsigned number) {
  phase& p = phases_[number];
  const unsigned when = t.leads() ? static_cast<unsigned>(t.draw.below(steps_)) : ~0u;
  const bool in_block = p.kind == phase_kind::block;
  if (in_block) {
    if (t.leads()) begin_block(t, p);
    must(call(t, operation::barrier_wait, barrier_), "the barrier after the begin of a block");
  }
  const bool produces = p.kind == phase_kind::produced && t.leads() && p.producer == t.here.self().value();
  if (produces) must(t.here.core().calls.produce(address(phased, 0, 0), pages_ * page_bytes(), false), "the begin of a production phase");
  for (unsigned i = 0; i < steps_ && !world_.failed(); ++i) {
    rest(t);
    if (i == when) in_block ? write_overlaps(t, p) : meet(t, number);
    step(t, number);
  }
  if (produces) {
    must(t.here.core().calls.produce(address(phased, 0, 0), pages_ * page_bytes(), true), "the end of a production phase");
    ++done_["productions"];
  }
  if (in_block) {
    must(call(t, operation::barrier_wait, barrier_), "the barrier before the end of a block");
    if (t.leads()) end_block(t, p);
  }
}

void job::begin_block(thread& t, phase& p) {
  const core::job_call together(t.here.core(), sync::meeting::block_begin, "begin", static_cast<int>(t.number));
  must(t.here.core().blocks.begin(phased, p.checked ? QUIRE_BLOCK_CHECK : 0), "the begin of a block");
  ++done_["blocks"];
}

void job::write_overlaps(thread& t, const phase& p) {
  const unsigned me = t.here.self().value();
  for (const overlap& o : p.overlaps) {
    if (o.a != me && o.b != me) continue;
    t.here.store(o.at, ~std::uint64_t{0} - (me == o.a || p.what == meeting::none ? 0 : 1));  // one value or two
    world_.forget(o.at);
  }
}

void job::end_block(thread& t, const phase& p) {
  const core::job_call together(t.here.core(), sync::meeting::block_end, "end", static_cast<int>(t.number));
  quire_overlap found{};
  const auto why = t.here.core().blocks.end(phased, found);
  const bool expected = p.checked && !p.overlaps.empty();
  if (why.code() != (expected ? QUIRE_OVERLAP : QUIRE_OK)) {
    return world_.fail("the end of a block ends with status " + std::to_string(why.code()) + ", and there are overlaps: " + (expected ? "yes" : "no"));
  }
  if (!expected) return;
  ++done_["overlaps"];
  const auto lowest = std::min_element(p.overlaps.begin(), p.overlaps.end(), [](const overlap& x, const overlap& y) { return x.at < y.at; })->at;
  if (reinterpret_cast<std::uint64_t>(found.address) != lowest) {
    world_.fail("an overlap is found at offset " + std::to_string(reinterpret_cast<std::uint64_t>(found.address) - base_address) + ", the lowest one is at " +
                std::to_string(lowest - base_address));
  }
}

void job::step(thread& t, unsigned phase) {
  if (t.draw.chance(options_.pins_percent)) return use_pinned(t);
  switch (t.draw.below(10)) {
    case 0: case 1: case 2: return use_free(t);
    case 3: case 4: case 5: return use_locked(t);
    case 6: return use_pinned(t);
    case 7: return use_counted(t);
    case 8: return use_phased(t, phase);
    default: return hint(t);
  }
}

void job::use_free(thread& t) {
  const std::uint64_t at = address(free_words, t.draw.below(pages_), t.draw.below(8) * 61);
  t.draw.chance(40) ? write(t, at) : read(t, at);
}

void job::use_locked(thread& t) {
  const std::uint64_t number = t.draw.below(locks_.size());
  lock& l = locks_[number];
  const bool reads = l.kind == sync::object_kind::rwlock && t.draw.chance(50);
  const auto take = l.kind == sync::object_kind::mutex    ? operation::mutex_lock
                    : l.kind == sync::object_kind::rwlock ? (reads ? operation::rwlock_read_lock : operation::rwlock_write_lock)
                                                          : operation::semaphore_acquire;
  const auto leave = l.kind == sync::object_kind::mutex    ? operation::mutex_unlock
                     : l.kind == sync::object_kind::rwlock ? operation::rwlock_unlock
                                                           : operation::semaphore_release;
  const std::int64_t timeout_ms = t.draw.chance(80) ? -1 : static_cast<std::int64_t>(t.draw.below(2));
  const auto why = call(t, take, l.object, 0, timeout_ms);
  if (timeout_ms >= 0 && (why.code() == QUIRE_TIMED_OUT || why.code() == QUIRE_BUSY)) return void(++done_["locks given up"]);
  must(why, "a lock");
  for (std::uint64_t i = t.draw.below(6); i != 0 && !world_.failed(); --i) {
    const std::uint64_t at = address(locked, t.draw.below(pages_), t.draw.below(words_of_lock) * locks_.size() + number);
    reads || t.draw.chance(50) ? read(t, at) : write(t, at);
    if (t.draw.chance(30)) rest(t);
  }
  must(call(t, leave, l.object, 1), "an unlock");
}

void job::use_pinned(thread& t) {
  const std::uint64_t page = t.draw.below(pages_), count = 1 + t.draw.below(std::min<std::uint64_t>(2, pages_ - page));
  const std::uint64_t first = address(pinned, page, 0);
  int holder = -1;
  const std::int64_t timeout_ms = t.draw.chance(80) ? -1 : static_cast<std::int64_t>(t.draw.below(2));
  const auto why = t.here.core().pins.acquire(first, count * page_bytes(), timeout_ms, holder);
  if (timeout_ms >= 0 && (why.code() == QUIRE_TIMED_OUT || why.code() == QUIRE_BUSY)) return void(++done_["pins given up"]);
  must(why, "a pin");
  ++done_["pins"];
  const unsigned me = t.here.self().value();
  for (std::uint64_t p = page; p < page + count; ++p) {
    auto& by = pinned_by_[p];
    if (by.second != 0 && by.first != me) world_.fail("two nodes have a page pinned");
    by = {me, by.second + 1};
  }
  for (std::uint64_t i = t.draw.below(5); i != 0 && !world_.failed(); --i) {
    const std::uint64_t at = address(pinned, page + t.draw.below(count), t.draw.below(8));
    t.draw.chance(50) ? write(t, at) : read(t, at);
    if (t.draw.chance(30)) rest(t);
  }
  for (std::uint64_t p = page; p < page + count; ++p) --pinned_by_[p].second;
  must(t.here.core().pins.release(first, count * page_bytes()), "the end of a pin");
}

void job::use_counted(thread& t) {
  const std::uint64_t at = address(counted, t.draw.below(pages_), t.draw.below(3));
  std::uint64_t before = 0;
  must(t.here.core().calls.atomic(at, static_cast<std::uint32_t>(model::atomic_operation::add), 1, 0, before), "an atomic operation");
  if (!before_[at].insert(before).second) world_.fail("two atomic additions found " + std::to_string(before) + " in a counter");
  world_.wrote(at, before_[at].size(), t.here.self());
  ++done_["atomics"];
}

void job::use_phased(thread& t, unsigned phase) {
  for (std::uint64_t i = t.draw.below(6); i != 0; --i) {
    const std::uint64_t page = t.draw.below(pages_), word = t.draw.below(16);
    if ((page * 16 + word + phase * 7) % all_threads_ != t.place) continue;
    const std::uint64_t at = address(phased, page, word);
    t.draw.chance(50) ? write(t, at) : read(t, at);
  }
}

void job::hint(thread& t) {
  const std::uint64_t page = t.draw.below(pages_), bytes = page_bytes() * (1 + t.draw.below(pages_ - page));
  const std::uint64_t at = address(static_cast<unsigned>(t.draw.below(regions)), page, 0);
  switch (t.draw.below(4)) {
    case 0: return t.here.core().faults.prefetch(at, bytes, t.draw.chance(50) ? access::write : access::read);
    case 1: return t.here.core().faults.advise(at, bytes, t.draw.chance(50));
    case 2: return t.here.core().faults.touch(at, bytes, t.draw.chance(50) ? access::write : access::read);
    default: break;
  }
  const auto why = t.here.core().calls.push(at, bytes);
  if (why.ok()) ++done_["pushes"];
  if (why.code() != QUIRE_UNSUPPORTED) must(why, "a push", QUIRE_BUSY);
}

/// The leaders of all nodes come here once a phase, while their other threads go on.
void job::meet(thread& t, unsigned phase) {
  core::core& c = t.here.core();
  const auto number = static_cast<int>(t.number);
  switch (phases_[phase].what) {
    case meeting::none: return;
    case meeting::barrier: {
      std::uint64_t of_the_job = 0;
      return must(call(t, operation::barrier_wait, of_the_job), "the job's barrier");
    }
    case meeting::reduce: {
      const core::job_call together(c, sync::meeting::none, "reduce", number);
      std::int64_t mine = t.here.self().value() + 1;
      sync::call r;
      r.what = operation::reduce_i64;
      r.count = 1;
      r.combine = QUIRE_SUM;
      r.values = sync::value(std::as_bytes(std::span(&mine, 1)));
      must(c.objects.synchronise(r, -1), "a reduction");
      std::memcpy(&mine, r.values.bytes().data(), sizeof mine);
      if (mine != options_.nodes * (options_.nodes + 1) / 2) world_.fail("a reduction gives " + std::to_string(mine));
      return;
    }
    case meeting::broadcast: {
      const core::job_call together(c, sync::meeting::none, "broadcast", number);
      std::uint64_t value = t.here.self().value() == phases_[phase].producer ? phase + 77 : 0;
      sync::call b;
      b.what = operation::broadcast;
      b.operand = phases_[phase].producer;
      b.count = sizeof value;
      b.values = sync::value(std::as_bytes(std::span(&value, 1)));
      must(c.objects.synchronise(b, -1), "a broadcast");
      std::memcpy(&value, b.values.bytes().data(), sizeof value);
      if (value != phase + 77) world_.fail("a broadcast gives " + std::to_string(value));
      return;
    }
    case meeting::change: {
      const core::job_call together(c, sync::meeting::set_consistency, "change", number);
      const auto to = scanned_ || (phase + phases_[phase].producer) % 2 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
      must(c.changes.set_consistency(locked, to), "a change of consistency");
      ++done_["changes"];
      return;
    }
    case meeting::hold: return hold(t);
  }
}

/// As for a checkpoint: what a node keeps does not change meanwhile, and is what was written last.
void job::hold(thread& t) {
  core::core& c = t.here.core();
  const core::job_call together(c, sync::meeting::checkpoint, "hold", static_cast<int>(t.number));
  const auto why = c.holding.hold();
  must(why, "a hold", QUIRE_BUSY);
  if (!why.ok()) return;
  ++done_["holds"];
  t.here.expect_less(true);
  const auto kept = c.holding.kept();
  world_.sleep(t.draw.below(50'000));
  for (const auto& run : kept) {
    for (std::uint64_t unit = run.first; run.in_memory && unit < run.first + run.count; ++unit) {
      for (std::uint64_t w = 0; w < page_bytes() / word_bytes; ++w) {
        const std::uint64_t at = run.region->about.base + unit * page_bytes() + w * word_bytes;
        if (run.region->about.id != counted && !run.region->scans()) check(t, at, t.here.peek(at));
      }
    }
  }
  std::uint64_t of_the_job = 0;
  must(call(t, operation::barrier_wait, of_the_job), "the barrier before the end of a hold");
  c.holding.let_go();
  t.here.expect_less(false);
}

void job::look_at_all(thread& t) {
  const auto all = world_.all_written();
  for (const auto& [at, value] : all) {
    if (world_.failed()) return;
    read(t, at);
  }
}

base::status job::call(thread& t, operation what, std::uint64_t& object, std::uint64_t operand, std::int64_t timeout_ms) {
  sync::call c;
  c.what = what;
  c.object = object;
  c.operand = operand;
  c.thread = t.number;
  const auto why = t.here.core().objects.synchronise(c, timeout_ms);
  object = c.object;
  return why;
}

void job::must(const base::status& why, const char* what, quire_status also) {
  if (!why.ok() && why.code() != also) world_.fail(std::string(what) + " ends with status " + std::to_string(why.code()));
}

void job::rest(thread& t) {
  if (t.draw.chance(60)) world_.sleep(t.draw.below(world_.options().think + 1));
}

void job::check(thread& t, std::uint64_t address, std::uint64_t found) {
  if (found == world_.latest(address) || world_.is_unknown(address)) return;
  const std::uint64_t offset = address - base_address;
  world_.fail("node " + std::to_string(t.here.self().value()) + " finds " + std::to_string(found) + " in word " +
              std::to_string(offset % granule / word_bytes) + " of region " + std::to_string(offset / granule) + ", where " +
              std::to_string(world_.latest(address)) + " was written last");
}

}  // namespace quire::whole
