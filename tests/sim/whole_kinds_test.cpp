// SPDX-License-Identifier: BSD-3-Clause
// Regions of all kinds in one job of whole nodes, and what changes them: one whose consistency changes, one of parallel
// blocks, one whose units are smaller than a page, one for transactions, one that a file keeps. A lock orders words of
// all of them: each read finds what was written last, whichever region the writes before it were in. Between phases the
// nodes meet: for a barrier, a change, or a block.
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
    return w_.run();
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
  [[nodiscard]] static std::uint64_t own(kind k, const actor& a, std::uint64_t i) {
    return base_address + k * granule + i % pages * page + 2048 + (a.node_number() * 16 + i) * sizeof(std::uint64_t);
  }

  void live(actor& a) {
    for (std::uint64_t phase = 0; phase < phases && !w_.failed(); ++phase) {
      for (std::uint64_t i = 2 + a.draw.below(6); i != 0 && !w_.failed(); --i) use_record(a);
      meet(a, phase);
    }
    a.must_call(operation::barrier_wait, 0);
    for (const kind k : all_kinds)
      for (std::uint64_t r = 0; r < records && k != committed && !w_.failed(); ++r) (void)a.read(address(k, r));
    for (std::uint64_t r = 0; r < records && !w_.failed(); ++r) transact(a, address(committed, r), false);
    a.must_call(operation::barrier_wait, 0);
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
    for (std::uint64_t i = 0; i < 4 && !w_.failed(); ++i) a.write(own(blocked, a, i));
    {
      const core::job_call together(c, sync::meeting::block_end, "end", number);
      quire_overlap found{};
      a.must(c.blocks.end(blocked, found), "the end of a block");
    }
    for (std::uint64_t i = 0; i < 4 && !w_.failed(); ++i) (void)a.read(own(blocked, a, i));
    a.must_call(operation::barrier_wait, 0);
    ++done_["blocks"];
  }

  std::uint64_t seed_;
  sim::random draw_;
  file file_{};
  world w_;
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
  for (const char* const what : {"transactions", "changes", "blocks"}) EXPECT_GT(done[what], 50u) << what;
}

}  // namespace
}  // namespace quire::whole::whole_kinds_test
