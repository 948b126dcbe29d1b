// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/transaction_job.hpp"

#include <array>
#include <iterator>
#include <vector>

namespace quire::whole {

using sync::operation;

namespace {
constexpr std::uint64_t page_bytes = 4096, granule = std::uint64_t{2} << 20;
constexpr std::uint16_t region = 1;
}  // namespace

transaction_job::transaction_job(const transaction_options& options, const maker& make)
    : options_(options), draw_(sim::mix(options.seed ^ 0x7a)), world_(draw_options()), calls_(make(world_, record_)) {
  core::region_description about;
  about.id = region;
  about.base = base_address + region * granule;
  about.bytes = pages_ * page_bytes;
  about.home = static_cast<std::uint16_t>(draw_.below(options_.nodes));
  constexpr quire_placement places[] = {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE, QUIRE_PLACE_FIRST_TOUCH};
  about.placement = static_cast<std::uint8_t>(places[draw_.below(std::size(places))]);
  about.consistency = options_.consistency;
  world_.add_region(about);
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
  return o;
}

std::uint64_t transaction_job::word(std::uint64_t number) const {
  return base_address + region * granule + number / options_.words * page_bytes + number % options_.words * 61 * sizeof(std::uint64_t);
}

std::string transaction_job::run() {
  world_.start(0, [this](node& first) {
    std::vector<unsigned> threads;
    unsigned all = 0;
    for (unsigned n = 0; n < world_.nodes(); ++n) all += threads.emplace_back(1 + static_cast<unsigned>(draw_.below(options_.most_threads)));
    actor maker(world_, first, 1, draw_.next());
    barrier_ = maker.create(operation::barrier_create, all);
    calls_->prepare(maker);
    for (unsigned n = 0; n < world_.nodes(); ++n) {
      for (unsigned number = 1; number <= threads[n]; ++number) {
        world_.start(n, [this, number, seed = draw_.next()](node& at) {
          actor a(world_, at, number, seed);
          live(a);
        });
      }
    }
  });
  if (std::string wrong = world_.run(); !wrong.empty()) return wrong;
  if (std::string wrong = record_.check(); !wrong.empty()) return wrong + "\n" + world_.net().trace();
  return {};
}

void transaction_job::live(actor& a) {
  for (std::uint64_t i = draw_.below(options_.most_transactions + 1); i != 0 && !world_.failed(); --i) {
    a.rest();
    transact(a, &transaction_job::use_words, true);
  }
  // By real time this one finds what was published last in all words; nobody leaves while others look.
  a.must_call(operation::barrier_wait, barrier_);
  transact(a, &transaction_job::read_all, false);
  a.must_call(operation::barrier_wait, barrier_);
}

void transaction_job::transact(actor& a, body what, bool may_abort) {
  unsigned attempts = 0;
  while (!world_.failed()) {
    const outcome how = attempt(a, what, may_abort);
    if (how == outcome::committed || how == outcome::aborted) return void(++done_);
    if (how == outcome::forced || options_.most_attempts == 0) continue;
    if (++attempts == options_.most_attempts) return world_.fail("a transaction is not committed after " + std::to_string(attempts) + " attempts");
  }
}

transaction_job::outcome transaction_job::attempt(actor& a, body what, bool may_abort) {
  calls_->begin(a);
  const recorder::id which = record_.begin(a.here);
  outcome how = outcome::committed;
  try {
    (this->*what)(a, which);
    if (may_abort && a.draw.chance(options_.abort_percent)) how = outcome::aborted;
  } catch (const restart& why) {
    how = why.forced ? outcome::forced : outcome::again;
  }
  if (how == outcome::committed) {
    record_.ask_for_commit(which);
    if (!calls_->commit(a, which)) how = outcome::again;
  } else {
    calls_->abort(a);
  }
  record_.end(which, how == outcome::committed);
  return how;
}

void transaction_job::use_words(actor& a, recorder::id which) {
  for (std::uint64_t i = a.draw.below(options_.most_operations + 1); i != 0 && !world_.failed(); --i) {
    if (a.draw.below(1000) < options_.restart_permille) throw restart{true};
    const std::uint64_t at = word(a.draw.below(pages_ * options_.words));
    if (a.draw.chance(write_percent_)) {
      const std::uint64_t value = world_.unique();
      calls_->store(a, at, value);
      record_.write(which, at, value);
    } else {
      read(a, which, at);
    }
    if (a.draw.chance(40)) a.rest();
  }
}

void transaction_job::read_all(actor& a, recorder::id which) {
  for (std::uint64_t number = 0; number < pages_ * options_.words && !world_.failed(); ++number) read(a, which, word(number));
}

void transaction_job::read(actor& a, recorder::id which, std::uint64_t address) {
  std::uint64_t latest = 0;  // by way of which the access may come between two actions of a step
  record_.read(which, address, a.here.load(address, latest));
}

}  // namespace quire::whole
