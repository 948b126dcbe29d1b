// SPDX-License-Identifier: BSD-3-Clause
// Regions of all kinds in one job of whole nodes, and what changes them: one whose consistency changes, one of parallel
// blocks, one whose units are smaller than a page, one for transactions, one that a file keeps. A lock orders words of
// all of them: each read finds what was written last, whichever region the writes before it were in. Between phases the
// nodes meet: for a barrier, a change, or a block. Meanwhile services order words, too: who looks a name up sees what
// was written before it was published; a thread on another node sees what was written before it was asked for, and who
// joins it what it has written.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/block_calls.hpp"
#include "core/change.hpp"
#include "core/job_call.hpp"
#include "core/protocol_set.hpp"
#include "core/stored_units.hpp"
#include "core/transactions.hpp"
#include "protocol/transaction/token/domain.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/actor.hpp"
#include "sim/whole/kept_store.hpp"
#include "tests/sim/minipage_regions.hpp"
#include "tests/sim/node_services.hpp"

namespace quire::whole::whole_kinds_test {
namespace {

using minipage_regions::page;
using sync::operation;

constexpr std::uint64_t granule = std::uint64_t{2} << 20, pages = 3, records = 12, phases = 5;
constexpr std::uint16_t file_number = 7;

enum kind : std::uint16_t { changed = 1, blocked, divided, committed, stored, last_kind = stored };
constexpr std::array all_kinds = {changed, blocked, divided, committed, stored};

/// Content that all nodes reach; zeroes at first.
using file = std::map<std::uint64_t, std::array<std::byte, page>>;

class disk final : public store::store {
 public:
  explicit disk(file& of) : of_(of) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    for (std::uint64_t done = 0; done < into.size(); done += page)
      std::memcpy(into.data() + done, of_[at + done].data(), page);
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override {
    for (std::uint64_t done = 0; done < from.size(); done += page)
      std::memcpy(of_[at + done].data(), from.data() + done, page);
    return 0;
  }
  [[nodiscard]] int sync() noexcept override { return 0; }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override { return fill(at, into); }
  [[nodiscard]] std::size_t grain() const noexcept override { return page; }
  [[nodiscard]] const char* name() const noexcept override { return "simulated file"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

 private:
  file& of_;
};

class job {
 public:
  job(std::uint64_t seed, unsigned nodes) : seed_(seed), draw_(sim::mix(seed ^ 0x71d5)), w_(options(nodes)) {
    for (unsigned n = 0; n < nodes; ++n) w_.at(n).core().stored.offer(file_number, std::make_unique<disk>(file_));
    for (const kind k : all_kinds) w_.add_region(describe(k));
    for (unsigned n = 0; n < nodes; ++n)
      services_.push_back(std::make_unique<node_services>(
          w_, w_.at(n), [this](node& here, std::uint64_t argument) { return visit(here, argument); }));
    for (std::uint64_t i = 0; i < phases; ++i) meetings_.push_back(static_cast<meeting>(draw_.below(3)));
  }

  std::string run() {
    w_.start(0, [this](node& first) {
      actor maker(w_, first, 1, seed_);
      mutex_ = maker.create(operation::mutex_create);
      for (unsigned n = 0; n < w_.nodes(); ++n)
        w_.start(n, [this, seed = draw_.next()](node& here) {
          actor a(w_, here, 2, seed);
          live(a);
        });
    });
    std::string wrong = w_.run();
    for (const auto& s : services_)
      if (wrong.empty() && s->kept() != 0) wrong = "a service keeps calls or threads that are over";
    return wrong;
  }
  [[nodiscard]] const std::map<std::string, unsigned>& done() const { return done_; }

 private:
  enum class meeting : std::uint8_t { barrier, change, block };

  world_options options(unsigned nodes) {
    static const std::array stores = {&kept_store::the_row};
    world_options o = minipage_regions::options(seed_, nodes, draw_);
    o.node.stores = stores;
    o.net.straggler_percent = draw_.chance(30) ? 10 : 0;
    o.think = draw_.chance(50) ? 3'000 : 30'000;
    o.node.move_homes = draw_.chance(80);
    o.node.updates = draw_.chance(80);
    o.node.learn_writes = draw_.chance(70);
    if (draw_.chance(30)) o.node.twin_bytes = page << draw_.below(3);
    if (draw_.chance(30)) o.node.notice_limit = 2 + draw_.below(6);
    if (draw_.chance(50)) o.node.protocols = protocol::with_token();
    o.node.detector = {};  // regions may change, and have transactions
    return o;
  }
  core::region_description describe(kind k) {
    core::region_description about;
    about.id = k;
    about.base = base_address + k * granule;
    about.bytes = pages * page;
    about.home = static_cast<std::uint16_t>(draw_.below(w_.nodes()));
    constexpr quire_placement places[] = {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE};
    about.placement = static_cast<std::uint8_t>(places[draw_.below(std::size(places))]);
    about.consistency = draw_.chance(50) ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
    if (k == committed) about.consistency = QUIRE_TRANSACTIONAL;
    if (k == stored || k == blocked) about.consistency = QUIRE_SEQUENTIAL;
    if (k == stored) about.backing = file_number;
    if (k == divided) {
      about.unit_bytes = minipage_regions::quarters.unit_bytes;
      about.views = minipage_regions::quarters.views;
      about.layout = core::layouts::divided.id;
    }
    return about;
  }
  /// Neighbouring records are on other pages.
  [[nodiscard]] static std::uint64_t address(kind k, std::uint64_t record) {
    return base_address + k * granule + record % pages * page + record * 17 * sizeof(std::uint64_t);
  }
  static constexpr std::uint64_t words_of_blocks = 4, words_of_names = phases, words_of_visits = phases;
  [[nodiscard]] static std::uint64_t own(kind k, unsigned node, std::uint64_t i) {
    constexpr std::uint64_t each = words_of_blocks + words_of_names + 2 * words_of_visits;
    return base_address + k * granule + i % pages * page + 2048 + (node * each + i) * sizeof(std::uint64_t);
  }

  void live(actor& a) {
    for (std::uint64_t phase = 0; phase < phases && !w_.failed(); ++phase) {
      exchange_names(a, phase);
      std::uint64_t thread = 0;
      const auto visited = static_cast<std::uint16_t>(a.draw.below(w_.nodes()));
      const bool visits = a.draw.chance(50);
      if (visits) begin_visit(a, visited, phase, thread);
      for (std::uint64_t i = 2 + a.draw.below(6); i != 0 && !w_.failed(); --i) use_record(a);
      meet(a, phase);
      if (visits && !w_.failed()) end_visit(a, phase, thread);
    }
    a.must_call(operation::barrier_wait, 0);
    for (const kind k : all_kinds)
      for (std::uint64_t r = 0; r < records && k != committed && !w_.failed(); ++r) (void)a.read(address(k, r));
    for (std::uint64_t r = 0; r < records && !w_.failed(); ++r) transact(a, address(committed, r), false);
    a.must_call(operation::barrier_wait, 0);
  }

  [[nodiscard]] node_services& services_of(const actor& a) { return *services_[a.node_number()]; }
  /// Where a node writes for others, by phase: `part` 0 what it publishes, 1 and 2 what its thread elsewhere finds and
  /// leaves. Not in transactional memory; what threads use while others may be in a block, not in that.
  [[nodiscard]] static std::uint64_t exchanged(unsigned node, std::uint64_t phase, std::uint64_t part) {
    constexpr std::array ordered = {changed, divided, stored, blocked};
    const std::size_t usable = part == 0 ? ordered.size() : ordered.size() - 1;
    return own(ordered[(node + phase + part) % usable], node, words_of_blocks + part * phases + phase);
  }

  /// Each node publishes where it has written, and reads what another one has.
  void exchange_names(actor& a, std::uint64_t phase) {
    if (w_.failed()) return;
    const auto name = [phase](unsigned node) {
      return "of node " + std::to_string(node) + " in phase " + std::to_string(phase);
    };
    const std::uint64_t mine = exchanged(a.node_number(), phase, 0);
    a.write(mine);
    a.must(services_of(a).publish(name(a.node_number()), mine), "a publication");
    if (a.draw.chance(30)) return;
    std::uint64_t found = 0;
    const auto other = static_cast<unsigned>(a.draw.below(w_.nodes()));
    a.must(services_of(a).lookup(name(other), found), "a lookup");
    if (found != exchanged(other, phase, 0)) return w_.fail("a name has another value than it was given");
    (void)a.read(found);
    ++done_["names"];
  }

  void begin_visit(actor& a, std::uint16_t on, std::uint64_t phase, std::uint64_t& thread) {
    if (w_.failed()) return;
    a.write(exchanged(a.node_number(), phase, 1));
    a.must(services_of(a).spawn(node_id{on}, a.node_number() * phases + phase, thread), "a spawn");
  }
  /// A thread that node `argument / phases` has asked for in a phase. It returns what it leaves.
  std::uint64_t visit(node& here, std::uint64_t argument) {
    const auto from = static_cast<unsigned>(argument / phases);
    const std::uint64_t phase = argument % phases;
    constexpr unsigned first_visitor = 3;
    actor a(w_, here, first_visitor + static_cast<unsigned>(argument), sim::mix(seed_ ^ argument));
    a.rest();
    (void)a.read(exchanged(from, phase, 1));
    const std::uint64_t left = w_.unique();
    if (!w_.failed()) a.write(exchanged(from, phase, 2), left);
    return left;
  }
  void end_visit(actor& a, std::uint64_t phase, std::uint64_t thread) {
    std::uint64_t left = 0;
    a.must(services_of(a).join(thread, left), "a join");
    if (w_.failed()) return;
    if (a.read(exchanged(a.node_number(), phase, 2)) != left) w_.fail("a thread has returned another value");
    ++done_["threads"];
  }

  /// Words of some regions, under the lock.
  void use_record(actor& a) {
    a.rest();
    a.must_call(operation::mutex_lock, mutex_);
    const std::uint64_t record = a.draw.below(records);
    for (const kind k : all_kinds) {
      if (w_.failed() || !a.draw.chance(60)) continue;
      const std::uint64_t at = address(k, record);
      const bool writes = a.draw.chance(60);
      if (k == committed) {
        transact(a, at, writes);
      } else {
        (void)a.read(at);
        if (writes) a.write(at);
      }
    }
    a.must_call(operation::mutex_unlock, mutex_);
  }

  void transact(actor& a, std::uint64_t at, bool writes) {
    auto& calls = a.here.core().transactions;
    const std::uint64_t latest = committed_[at], value = w_.unique();
    for (unsigned attempt = 1; !w_.failed(); ++attempt) {
      if (attempt > 2) a.here.pause(a.draw.below(std::uint64_t{2'000} << std::min(attempt, 5u)));
      a.must(calls.begin(attempt > 4), "a transaction's begin");
      std::uint64_t found = latest;
      bool doomed = false;
      try {
        found = a.here.load(at);
        if (writes) a.here.store(at, value);
      } catch (const restart&) {
        doomed = true;
      }
      const auto why = doomed ? calls.abort() : calls.commit();
      a.must(why, "a transaction's end", QUIRE_CONFLICT);
      if (doomed || !why.ok()) continue;
      if (found != latest) w_.fail("a transaction finds an old value in " + w_.name_of(at));
      if (writes) committed_[at] = value;
      ++done_["transactions"];
      return;
    }
  }

  void meet(actor& a, std::uint64_t phase) {
    const int number = static_cast<int>(a.number);
    core::core& c = a.here.core();
    switch (meetings_[phase]) {
      case meeting::barrier:
        return a.must_call(operation::barrier_wait, 0);
      case meeting::change: {
        const core::job_call together(c, sync::meeting::set_consistency, "change", number);
        const auto to = phase % 2 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
        a.must(c.changes.set_consistency(changed, to), "a change of consistency");
        ++done_["changes"];
        return;
      }
      case meeting::block:
        return block(a);
    }
  }

  /// Each node writes words of its own there, and, under the lock, in others.
  void block(actor& a) {
    core::core& c = a.here.core();
    const int number = static_cast<int>(a.number);
    {
      const core::job_call together(c, sync::meeting::block_begin, "begin", number);
      a.must(c.blocks.begin(blocked, 0), "the begin of a block");
    }
    for (std::uint64_t i = 0; i < words_of_blocks && !w_.failed(); ++i) a.write(own(blocked, a.node_number(), i));
    {
      const core::job_call together(c, sync::meeting::block_end, "end", number);
      quire_overlap found{};
      a.must(c.blocks.end(blocked, found), "the end of a block");
    }
    for (std::uint64_t i = 0; i < words_of_blocks && !w_.failed(); ++i) (void)a.read(own(blocked, a.node_number(), i));
    a.must_call(operation::barrier_wait, 0);
    ++done_["blocks"];
  }

  std::uint64_t seed_;
  sim::random draw_;
  file file_{};
  world w_;
  std::vector<std::unique_ptr<node_services>> services_{};
  std::vector<meeting> meetings_{};
  std::uint64_t mutex_ = 0;
  std::map<std::uint64_t, std::uint64_t> committed_{};  ///< by address, where transactions write
  std::map<std::string, unsigned> done_{};
};

TEST(whole_kinds, one_lock_orders_words_of_all_kinds_of_regions) {
  std::map<std::string, unsigned> done;
  for (const unsigned nodes : {2u, 3u, 4u}) {
    for (const std::uint64_t seed : sim::seeds(1, 80)) {
      job one(seed, nodes);
      ASSERT_EQ(one.run(), "") << "replay: QUIRE_SIM_SEED=" << seed << ", nodes " << nodes;
      for (const auto& [what, times] : one.done()) done[what] += times;
    }
  }
  if (!sim::usual_seeds()) return;
  for (const char* const what : {"transactions", "changes", "blocks", "names", "threads"})
    EXPECT_GT(done[what], 50u) << what;
}

}  // namespace
}  // namespace quire::whole::whole_kinds_test
