// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/transaction_job.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/fault.hpp"
#include "core/fault_ranges.hpp"
#include "core/hold.hpp"
#include "core/job_call.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/transactions.hpp"
#include "protocol/transaction/token/domain.hpp"

namespace quire::whole {

using sync::operation;

namespace {
constexpr std::uint64_t page_bytes = 4096, job_granule = std::uint64_t{2} << 20;
constexpr std::uint16_t region = 1, region_beside = 2;
constexpr std::uint64_t cell_bytes = sizeof(std::uint64_t);
}  // namespace

transaction_job::transaction_job(const transaction_options& options, const maker& make)
    : options_(options),
      draw_(sim::mix(options.seed ^ 0x7a)),
      world_(draw_options()),
      record_(world_, !options.by_token),
      calls_(make(world_, record_)) {
  core::region_description about = describe(region);
  about.consistency = options_.consistency;
  world_.add_region(about);
  if (options_.beside_percent == 0) return;
  about = describe(region_beside);
  about.consistency = options_.beside;
  world_.add_region(about);
}

core::region_description transaction_job::describe(std::uint16_t number) {
  core::region_description about;
  about.id = number;
  about.base = base_address + number * job_granule;
  about.unit_bytes = static_cast<std::uint32_t>(unit_);
  about.bytes = pages_ * unit_;
  about.home = static_cast<std::uint16_t>(draw_.below(options_.nodes));
  constexpr quire_placement places[] = {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE,
                                        QUIRE_PLACE_FIRST_TOUCH};
  about.placement = static_cast<std::uint8_t>(places[draw_.below(std::size(places))]);
  return about;
}

world_options transaction_job::draw_options() {
  world_options o;
  o.net.seed = options_.seed;
  o.net.nodes = options_.nodes;
  o.net.straggler_percent = draw_.chance(40) ? 5 + static_cast<unsigned>(draw_.below(20)) : 0;
  o.net.straggler_delay = draw_.chance(50) ? 100'000 : 500'000;
  o.net.min_delay = draw_.chance(20) ? 0 : o.net.min_delay;
  o.net.max_delay = draw_.chance(15) ? 200'000 : o.net.max_delay;
  o.net.reads_late = draw_.chance(50);
  o.think = draw_.chance(50) ? 3'000 : 30'000;
  o.queued_percent = draw_.chance(50) ? 30 : 0;
  o.unmapped_permille = draw_.chance(30) ? 10 : 0;
  o.intruding_percent = draw_.chance(50) ? 25 : 0;
  o.node.read_ahead = draw_.chance(70);
  o.node.learn_writes = draw_.chance(70);
  pages_ = 1 + static_cast<unsigned>(draw_.below(options_.most_pages));
  write_percent_ = std::array{10u, 30u, 50u, 80u}[draw_.below(4)];
  if (options_.any_unit && draw_.chance(30)) unit_ = page_bytes << (1 + draw_.below(2));
  if (options_.forced_percent != 0 && draw_.chance(options_.forced_percent)) o.node.restart_every = 2 + draw_.below(20);
  draw_memory(o);
  if (options_.straggles) {
    o.net.straggler_percent = 25;
    o.net.straggler_delay = 400'000;
    o.net.max_delay = 10'000;
    o.think = 3'000;
  }
  if (options_.by_token) o.node.protocols = protocol::with_token();
  return o;
}

/// What is committed is published to frames, and goes from there: a body must find room for all that it uses.
void transaction_job::draw_memory(world_options& o) {
  if (options_.limited_percent != 0 && draw_.chance(50)) o.node.twin_bytes = unit_ * draw_.below(4);
  if (options_.limited_percent == 0 || !draw_.chance(options_.limited_percent)) return;
  pages_ = 16 + static_cast<unsigned>(draw_.below(24));
  o.node.memory_limit = unit_ * (16 + draw_.below(8));
  o.node.pages_out = true;
  o.limited_percent = 60;
  o.store_delay = draw_.chance(50) ? 20'000 : 500'000;
  o.store_fails_percent = draw_.chance(30) ? 20 : 0;
}

/// Those of a unit lie in all of its pages.
std::uint64_t transaction_job::word(std::uint64_t number) const {
  const std::uint64_t of_unit = number % options_.words, page = of_unit % (unit_ / page_bytes);
  return base_address + region * job_granule + number / options_.words * unit_ + page * page_bytes +
         of_unit * 61 * cell_bytes;
}

/// Beside words that others use.
std::uint64_t transaction_job::slot(std::uint64_t number) const {
  return base_address + region * job_granule + number % pages_ * unit_ + (400 + number) * cell_bytes;
}

/// Each thread has one of its own.
std::uint64_t transaction_job::beside(const actor& a) const {
  const std::uint64_t place = a.node_number() * std::uint64_t{options_.most_threads} + a.number;
  return base_address + region_beside * job_granule + place % pages_ * unit_ + place * cell_bytes;
}

std::string transaction_job::run() {
  world_.start(0, [this](node& first) {
    std::vector<unsigned> threads;
    for (unsigned n = 0; n < world_.nodes(); ++n)
      all_threads_ += threads.emplace_back(1 + static_cast<unsigned>(draw_.below(options_.most_threads)));
    actor maker(world_, first, 1, draw_.next());
    barrier_ = maker.create(operation::barrier_create, all_threads_);
    if (options_.locked_percent != 0) lock_ = maker.create(operation::mutex_create);
    calls_->prepare(maker);
    plan_items(threads);
    const std::uint64_t holds = draw_.below(options_.most_holds + 1);
    for (unsigned n = 0; n < world_.nodes() && holds != 0; ++n) {
      world_.start(n, [this, holds, seed = draw_.next()](node& at) {
        actor a(world_, at, options_.most_threads + 1, seed);
        hold_now_and_then(a, holds);
      });
    }
    for (unsigned n = 0; n < world_.nodes(); ++n) {
      for (unsigned number = 1; number <= threads[n]; ++number) {
        world_.start(n, [this, number, items = items_[n][number - 1], seed = draw_.next()](node& at) {
          actor a(world_, at, number, seed);
          live(a, items);
        });
      }
    }
  });
  if (std::string wrong = world_.run(); !wrong.empty()) return wrong;
  if (std::string wrong = record_.check(); !wrong.empty()) return wrong + "\n" + world_.net().trace();
  return check_frames();
}

/// Who gives never takes, so that somebody can always go on.
void transaction_job::plan_items(const std::vector<unsigned>& threads) {
  std::vector<std::uint64_t*> all;
  for (const unsigned of_node : threads) items_.emplace_back(of_node);
  for (auto& of_node : items_) {
    for (std::uint64_t& one : of_node) all.push_back(&one);
  }
  if (options_.most_items == 0 || all.size() < 2 || draw_.chance(40)) return;
  slots_ = 1 + draw_.below(world_.options().node.memory_limit != 0 ? 12 : 4);
  for (std::size_t i = all.size() - 1; i != 0; --i) std::swap(all[i], all[draw_.below(i + 1)]);
  const std::size_t givers = 1 + draw_.below(all.size() - 1);
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < givers; ++i) left += *all[i] = 1 + draw_.below(options_.most_items);
  for (std::size_t i = givers; i < all.size(); ++i) {
    const std::uint64_t some = i + 1 == all.size() ? left : draw_.below(left + 1);
    *all[i] = some | std::uint64_t{1} << 63;  // they are taken
    left -= some;
  }
}

void transaction_job::live(actor& a, std::uint64_t items) {
  const bool takes = items >> 63 != 0;
  items &= ~(std::uint64_t{1} << 63);
  for (std::uint64_t i = draw_.below(options_.most_transactions + 1); (i != 0 || items != 0) && !world_.failed();) {
    a.rest();
    if (a.draw.chance(options_.outside_percent)) look_outside(a);
    if (items != 0 && (i == 0 || a.draw.chance(40))) {
      transact(a, takes ? &transaction_job::take : &transaction_job::give, false);
      --items;
    } else {
      options_.locked_percent != 0 && a.draw.chance(options_.locked_percent)
          ? transact_locked(a)
          : transact(a, &transaction_job::use_words, true);
      --i;
    }
  }
  // By real time this one finds what was published last in all words; nobody leaves while others look.
  meet(a, 1);
  transact(a, &transaction_job::read_all, false);
  meet(a, 2);
}

/// At the barrier, for the first time or for the second.
void transaction_job::meet(actor& a, std::uint64_t round) {
  record_.tell(a.here, round);
  a.must_call(operation::barrier_wait, barrier_);
  record_.hear(a.here, round);
}

void transaction_job::transact_locked(actor& a) {
  constexpr std::uint64_t by_lock = 0;
  a.must_call(operation::mutex_lock, lock_);
  record_.hear(a.here, by_lock);
  transact(a, &transaction_job::use_words, true);
  record_.tell(a.here, by_lock);
  a.must_call(operation::mutex_unlock, lock_);
}

std::uint64_t transaction_job::stale() {
  std::uint64_t sum = 0;
  for (unsigned n = 0; options_.by_token && n < world_.nodes(); ++n)
    sum += static_cast<transaction::token::domain&>(world_.at(n).core().protocols.domain(transaction::id)).stale();
  return sum;
}

/// A thread of each node: as for checkpoints. No writes are committed meanwhile, and what nodes keep is what was
/// committed last.
void transaction_job::hold_now_and_then(actor& a, std::uint64_t times) {
  core::core& c = a.here.core();
  for (std::uint64_t i = 0; i < times && !world_.failed(); ++i) {
    world_.sleep(a.draw.below(500'000));
    const core::job_call together(c, sync::meeting::checkpoint, "hold", static_cast<int>(a.number));
    a.here.expect_less(true);
    a.must(c.holding.hold(), "a hold");
    const std::uint64_t commits = commits_with_writes();
    check_held(a);
    world_.sleep(a.draw.below(200'000));
    check_held(a);
    if (commits_with_writes() != commits) world_.fail("a transaction is committed while content is held");
    a.must_call(operation::barrier_wait, 0);
    c.holding.let_go();
    a.here.expect_less(false);
    ++holds_;
  }
}

std::uint64_t transaction_job::commits_with_writes() {
  std::uint64_t all = 0;
  for (unsigned n = 0; n < world_.nodes(); ++n) all += world_.at(n).core().transactions.count().commits;
  return all;
}

void transaction_job::check_held(actor& a) {
  core::region_slot& r = *a.here.core().regions.slot(model::region_id{region});
  for (const core::kept_run& run : a.here.core().holding.kept(&r)) {
    for (const auto& [address, value] : world_.all_written()) {
      const std::uint64_t unit =
          address - r.about.base < r.about.bytes ? r.layout.unit_of(address - r.about.base) : ~std::uint64_t{0};
      if (!run.in_memory || unit < run.first || unit >= run.first + run.count || a.here.peek(address) == value)
        continue;
      return world_.fail("node " + std::to_string(a.node_number()) + " keeps " + std::to_string(a.here.peek(address)) +
                         " in " + world_.name_of(address) + ", where " + std::to_string(value) + " was committed last");
    }
  }
}

/// Outside of transactions a thread sees what is committed, or what the transaction that runs on its node has written.
void transaction_job::look_outside(actor& a) {
  const std::uint64_t at = word(a.draw.below(pages_ * options_.words)), since = record_.position();
  const std::uint64_t to_end = base_address + region * job_granule + pages_ * unit_ - at,
                      some = std::min(to_end, unit_ * (1 + a.draw.below(3)));
  if (a.draw.chance(20)) prefetch_range(a.here.core(), at, some, a.draw.chance(50) ? access::read : access::write);
  std::uint64_t latest = 0;
  const std::uint64_t found = a.here.load(at, latest);
  if (options_.by_token && record_.is_published(at, found)) return;
  if (found == latest || record_.may_be_uncommitted(a.here, since, at, found)) return;
  world_.fail("node " + std::to_string(a.node_number()) + " finds " + std::to_string(found) + " in " +
              world_.name_of(at) + ", where " + std::to_string(latest) + " was committed last");
}

void transaction_job::transact(actor& a, body what, bool may_abort) {
  unsigned attempts = 0, unforced = 0;
  const bool turn = a.draw.chance(options_.turn_percent);
  turns_ += turn ? 1 : 0;
  while (!world_.failed()) {
    const outcome how = attempt(a, ++attempts, what, may_abort, turn);
    if (how == outcome::committed || how == outcome::aborted) return void(++done_);
    if (how == outcome::waits) {
      ++waits_;
      attempts = unforced = 0;
      continue;
    }
    if (how == outcome::forced || options_.most_attempts == 0) continue;
    if (++unforced == options_.most_attempts)
      return world_.fail("a transaction is not committed after " + std::to_string(unforced) + " attempts");
  }
}

transaction_job::outcome transaction_job::attempt(actor& a, unsigned number, body what, bool may_abort, bool turn) {
  const bool later = turn && a.draw.chance(50);
  const auto begun = calls_->begin(a, number, turn && !later, word(a.draw.below(pages_ * options_.words)));
  const recorder::id which = begun ? *begun : record_.begin(a.here);
  outcome how = outcome::committed;
  try {
    if (later && a.draw.chance(50)) (void)read(a, which, word(a.draw.below(pages_ * options_.words)));
    if (later) calls_->take_turn(a);
    if (!(this->*what)(a, which)) {
      how = outcome::waits;
    } else if (may_abort && a.draw.chance(options_.abort_percent)) {
      how = outcome::aborted;
    }
  } catch (const restart& why) {
    how = why.forced ? outcome::forced : outcome::again;
  }
  if (options_.hides_percent != 0 && a.draw.chance(options_.hides_percent)) {
    const std::uint64_t first = a.draw.below(pages_), count = 1 + a.draw.below(pages_ - first);
    calls_->hide(a, base_address + region * job_granule + first * unit_, count * unit_);
    ++hides_;
  }
  if (how == outcome::committed) {
    record_.ask_for_commit(which);
    if (!calls_->commit(a, which)) how = outcome::again;
  } else if (how == outcome::waits) {
    calls_->retry(a);
  } else if (!calls_->abort(a) && how == outcome::aborted) {
    how = outcome::again;
  }
  record_.end(which, how == outcome::committed);
  return how;
}

bool transaction_job::use_words(actor& a, recorder::id which) {
  for (std::uint64_t i = a.draw.below(options_.most_operations + 1); i != 0 && !world_.failed(); --i) {
    if (a.draw.below(1000) < options_.restart_permille) throw restart{true};
    if (a.draw.chance(options_.beside_percent)) use_beside(a);
    const std::uint64_t at = word(a.draw.below(pages_ * options_.words));
    if (a.draw.chance(write_percent_)) {
      write(a, which, at, world_.unique());
    } else {
      (void)read(a, which, at);
    }
    if (a.draw.chance(40)) a.rest();
  }
  return true;
}

bool transaction_job::read_all(actor& a, recorder::id which) {
  for (std::uint64_t number = 0; number < pages_ * options_.words && !world_.failed(); ++number)
    (void)read(a, which, word(number));
  for (std::uint64_t number = 0; number < slots_ && !world_.failed(); ++number) (void)read(a, which, slot(number));
  return true;
}

/// Looks at slots from some one on until it finds one that is full, or not; false if there is none.
bool transaction_job::hand_over(actor& a, recorder::id which, bool full) {
  const std::uint64_t first = a.draw.below(slots_);
  for (std::uint64_t i = 0; i < slots_; ++i) {
    const std::uint64_t at = slot((first + i) % slots_);
    if (full_.contains(read(a, which, at)) != full) continue;
    const std::uint64_t value = world_.unique();
    if (!full) full_.insert(value);
    write(a, which, at, value);
    if (a.draw.chance(30)) a.rest();
    return true;
  }
  return false;
}

void transaction_job::use_beside(actor& a) {
  const std::uint64_t own = beside(a);
  (void)a.read(own);
  if (a.draw.chance(50)) a.write(own);
}

void transaction_job::write(actor& a, recorder::id which, std::uint64_t address, std::uint64_t value) {
  record_.write(which, address,
                value);  // before anybody can see it, and before a restart: then it is not seen to be there
  calls_->store(a, address, value);
}

std::uint64_t transaction_job::read(actor& a, recorder::id which, std::uint64_t address) {
  std::uint64_t latest = 0;  // by way of which the access may come between two actions of a step
  const std::uint64_t value = a.here.load(address, latest);
  record_.read(which, address, value);
  return value;
}

/// When all is over, all frames of who has a unit have what was committed last.
std::string transaction_job::check_frames() {
  for (unsigned n = 0; n < world_.nodes(); ++n) {
    node& here = world_.at(n);
    const core::region_slot& r = *here.core().regions.slot(model::region_id{region});
    for (const auto& [address, value] : world_.all_written()) {
      if (address - r.about.base >= r.about.bytes || !r.machine->has_content(r.layout.unit_of(address - r.about.base)))
        continue;
      if (here.has_frame(address) && here.peek(address) != value) {
        return "at the end a frame of node " + std::to_string(n) + " has " + std::to_string(here.peek(address)) +
               " in " + world_.name_of(address) + ", where " + std::to_string(value) + " was committed last\n" +
               world_.net().trace();
      }
    }
  }
  return {};
}

}  // namespace quire::whole
