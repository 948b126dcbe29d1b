// SPDX-License-Identifier: BSD-3-Clause
// Random transactional programs on whole nodes, recorded and checked: those of regions that are transactional; and such
// whose transactions are a mutex of the job and words that are put back, to see without a protocol what the program,
// its recorder and their checker are worth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/change.hpp"
#include "core/frames.hpp"
#include "core/job_call.hpp"
#include "core/region_slot.hpp"
#include "core/transactions.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/node_transactions.hpp"
#include "sim/whole/transaction_job.hpp"

namespace quire::whole::whole_transactions_test {
namespace {

using sync::operation;

enum class flaw : std::uint8_t { none, no_lock, early_unlock, no_undo, half_an_undo };

class under_a_lock final : public transaction_calls {
 public:
  under_a_lock(world& w, recorder& r, flaw how) : world_(w), record_(r), flaw_(how) {}
  void prepare(actor& a) override { lock_ = a.create(operation::mutex_create); }
  std::optional<recorder::id> begin(actor& a, unsigned, bool, std::uint64_t) override {
    if (flaw_ != flaw::no_lock) a.must_call(operation::mutex_lock, lock_);
    return {};
  }
  void store(actor& a, std::uint64_t address, std::uint64_t value) override {
    before_.emplace_back(address, a.here.load(address));
    a.here.store(address, value);
    if (flaw_ == flaw::early_unlock)
      a.must_call(operation::mutex_unlock, lock_), a.rest(), a.must_call(operation::mutex_lock, lock_);
  }
  bool commit(actor& a, recorder::id which) override {
    before_.clear();
    record_.publish(which);
    if (flaw_ != flaw::no_lock) a.must_call(operation::mutex_unlock, lock_);
    return true;
  }
  bool abort(actor& a) override {
    for (auto undo = std::exchange(before_, {}); !undo.empty() && flaw_ != flaw::no_undo && !world_.failed();
         undo.pop_back()) {
      a.here.store(undo.back().first, undo.back().second);
      if (flaw_ == flaw::half_an_undo) break;
    }
    if (flaw_ != flaw::no_lock) a.must_call(operation::mutex_unlock, lock_);
    return true;
  }

 private:
  world& world_;
  recorder& record_;
  flaw flaw_;
  std::uint64_t lock_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> before_{};
};

transaction_job make(std::uint64_t seed, flaw how) {
  return transaction_job({.seed = seed, .nodes = 2 + static_cast<unsigned>(seed % 3), .most_attempts = 1},
                         [how](world& w, recorder& r) { return std::make_unique<under_a_lock>(w, r, how); });
}

TEST(whole_transactions, under_a_lock_are_serializable) {
  std::uint64_t attempts = 0, commits = 0;
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    transaction_job j = make(seed, flaw::none);
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    attempts += j.history().attempts().size();
    commits += j.history().commits();
  }
  std::cout << attempts << " attempts, " << commits << " commits\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(commits, 1'000u);
  EXPECT_GT(attempts - commits, 100u);
}

TEST(whole_transactions, are_refused_where_locks_or_undoing_have_a_flaw) {
  for (const auto& [how, least] :
       {std::pair{flaw::no_lock, 70u}, {flaw::early_unlock, 60u}, {flaw::no_undo, 50u}, {flaw::half_an_undo, 20u}}) {
    unsigned refused = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      transaction_job j = make(seed, how);
      refused += j.run().empty() ? 0 : 1;
    }
    std::cout << refused << " of 100 refused\n";
    EXPECT_GE(refused, least) << static_cast<int>(how);
  }
}

// ---- Regions that are transactional

struct program {
  const char* name;
  unsigned nodes, seeds;
  transaction_options with{};
};
void PrintTo(const program& p, std::ostream* out) { *out << p.name << "_of_" << p.nodes; }

std::vector<program> programs() {
  const transaction_options words{}, turns{.turn_percent = 40}, hands{.most_items = 8},
      forced{.restart_permille = 0, .forced_percent = 100};
  const transaction_options limited{.most_pages = 8, .most_operations = 12, .limited_percent = 100};
  const transaction_options waits{
      .most_threads = 3, .most_transactions = 6, .most_operations = 20, .most_items = 10, .limited_percent = 100};
  const transaction_options hidden{
      .most_pages = 6, .words = 1, .most_transactions = 20, .most_operations = 5, .hides_percent = 60};
  const transaction_options held{.turn_percent = 10, .most_items = 4, .limited_percent = 30, .most_holds = 4};
  transaction_options mix{.most_threads = 3,
                          .most_pages = 6,
                          .most_transactions = 14,
                          .turn_percent = 10,
                          .most_items = 5,
                          .outside_percent = 40};
  mix.beside_percent = 20;
  mix.limited_percent = 30;
  mix.any_unit = true;
  mix.hides_percent = 20;
  mix.forced_percent = 20;
  mix.most_holds = 2;
  std::vector<program> all;
  for (unsigned nodes = 2; nodes <= 5; ++nodes) all.push_back({"mix", nodes, 60, mix});
  for (unsigned nodes = 2; nodes <= 4; ++nodes) {
    all.push_back({"words", nodes, 40, words});
    all.push_back({"turns", nodes, 20, turns});
    all.push_back({"hands", nodes, 30, hands});
    all.push_back({"forced", nodes, 20, forced});
    all.push_back({"hidden", nodes, 40, hidden});
    all.push_back({"limited", nodes, 20, limited});
    all.push_back({"waits", nodes, 20, waits});
    all.push_back({"held", nodes, 30, held});
  }
  return all;
}

/// The same where commits go round with a token: who has a lock next is behind the commits of who had it before, in all
/// memory that there is.
std::vector<program> programs_by_token() {
  std::vector<program> all;
  for (const program& p : programs()) {
    const std::string_view name = p.name;
    if (name == "limited" || name == "waits" || name == "held") continue;
    program& by_token = all.emplace_back(p);
    by_token.with.by_token = true;
    by_token.with.limited_percent = 0;
    by_token.with.most_holds = 0;
    by_token.with.locked_percent = 25;
  }
  transaction_options locked{
      .most_threads = 1, .most_transactions = 20, .most_operations = 4, .locked_percent = 70, .by_token = true};
  transaction_options late{
      .most_threads = 1, .most_pages = 3, .words = 2, .most_transactions = 40, .most_operations = 4, .by_token = true};
  late.straggles = true;
  late.locked_percent = 30;
  for (unsigned nodes = 3; nodes <= 6; ++nodes) {
    all.push_back({"locked", nodes, 40, locked});
    all.push_back({"late", nodes, 60, late});
    // Locks tell of commits, and of intervals of release consistency beside.
    program& beside = all.emplace_back(program{"late_beside_release", nodes, 40, late});
    beside.with.beside_percent = 30;
    beside.with.beside = QUIRE_RELEASE;
  }
  return all;
}

class node_transactions_job : public testing::TestWithParam<program> {};

TEST_P(node_transactions_job, is_serializable) {
  std::uint64_t attempts = 0, commits = 0, retries = 0, turns = 0, hides = 0, holds = 0, stale = 0;
  for (const std::uint64_t seed : sim::seeds(1, GetParam().seeds)) {
    transaction_options how = GetParam().with;
    how.seed = seed;
    how.nodes = GetParam().nodes;
    how.most_attempts = 5;
    how.consistency = QUIRE_TRANSACTIONAL;
    transaction_job j(how, [](world& w, recorder& r) { return std::make_unique<node_transactions>(w, r); });
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    attempts += j.history().attempts().size();
    commits += j.history().commits();
    retries += j.retries();
    turns += j.turns();
    hides += j.hides();
    holds += j.holds();
    stale += j.stale();
  }
  std::cout << attempts << " attempts, " << commits << " commits, " << retries << " retries, " << turns << " turns, "
            << holds << " holds, " << stale << " stale contents\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(commits, 10u * GetParam().seeds);
  EXPECT_GT(attempts - commits, GetParam().seeds);
  EXPECT_GE(retries, GetParam().with.most_items != 0 ? GetParam().seeds / 2 : 0u);
  EXPECT_GE(stale, GetParam().with.by_token && GetParam().nodes > 2 ? 1u : 0u)
      << "of two nodes one has the current content";
  EXPECT_GE(hides, GetParam().with.hides_percent != 0 ? 10u * GetParam().seeds : 0u);
  EXPECT_GE(turns, GetParam().with.turn_percent > 20 ? 5u * GetParam().seeds : 0u);
  EXPECT_GE(holds, GetParam().with.most_holds > 2 ? GetParam().seeds : 0u);
}
INSTANTIATE_TEST_SUITE_P(programs, node_transactions_job, testing::ValuesIn(programs()), [](const auto& info) {
  return std::string(info.param.name) + "_of_" + std::to_string(info.param.nodes);
});

/// A region changes to and fro between transactional and sequential consistency; threads count in it by transactions,
/// and then plainly, each in words of its own beside those of others. Others read meanwhile.
TEST(node_transactions, go_on_where_a_region_has_had_another_consistency) {
  constexpr std::uint64_t page = 4096, base = base_address + (std::uint64_t{2} << 20), pages = 3;
  std::uint64_t changes = 0;
  for (const std::uint64_t seed : sim::seeds(1, 60)) {
    sim::random draw(seed);
    world_options o;
    o.net.seed = seed;
    o.net.nodes = 2 + static_cast<unsigned>(draw.below(3));
    o.net.reads_late = draw.chance(50);
    o.queued_percent = draw.chance(50) ? 30 : 0;
    o.intruding_percent = draw.chance(50) ? 25 : 0;
    if (draw.chance(30)) o.node.twin_bytes = page;
    world w(o);
    core::region_description about;
    about.id = 1;
    about.base = base;
    about.bytes = pages * page;
    about.placement = QUIRE_PLACE_MODULO;
    about.consistency = QUIRE_TRANSACTIONAL;
    w.add_region(about);
    const std::uint64_t rounds = 2 + draw.below(4);
    unsigned left = o.net.nodes;
    const auto own = [](unsigned node, std::uint64_t unit) {
      return base + unit * page + (1 + node) * sizeof(std::uint64_t);
    };
    for (unsigned n = 0; n < o.net.nodes; ++n) {
      w.start(n, [&, n](node& here) {
        actor a(w, here, 1, seed * 8 + n);
        auto& all = here.core().transactions;
        std::uint64_t counted = 0;
        for (std::uint64_t round = 0; round < rounds && !w.failed(); ++round) {
          for (std::uint64_t unit = 0; unit < pages; ++unit) {
            for (;;) {
              a.must(all.begin(false), "a begin");
              try {
                const std::uint64_t value = here.load(own(n, unit));
                if (value != counted)
                  w.fail("node " + std::to_string(n) + " has counted to " + std::to_string(counted) + ", and finds " +
                         std::to_string(value));
                here.store(own(n, unit), value + 1);
              } catch (const restart&) {
                (void)all.abort();
                continue;
              }
              if (all.commit().ok()) break;
              a.rest();
            }
          }
          ++counted;
          for (const auto to : {QUIRE_SEQUENTIAL, QUIRE_TRANSACTIONAL}) {
            {
              const core::job_call together(here.core(), sync::meeting::set_consistency, "change", 1);
              a.must(here.core().changes.set_consistency(1, to), "a change");
              ++changes;
            }
            if (to == QUIRE_TRANSACTIONAL) continue;
            for (std::uint64_t unit = 0; unit < pages; ++unit) {
              if (here.load(own(n, unit)) != counted) w.fail("a count is lost in a change");
              here.store(own(n, unit), counted + 1);
              a.rest();
            }
            ++counted;
          }
        }
        a.must_call(operation::barrier_wait, 0);
        for (unsigned other = 0; other < o.net.nodes; ++other) {
          for (std::uint64_t unit = 0; unit < pages; ++unit) {
            if (here.load(own(other, unit)) != counted)
              w.fail("a node finds " + std::to_string(here.load(own(other, unit))) + " at the end");
          }
        }
        a.must_call(operation::barrier_wait, 0);
        --left;
      });
      w.start(n, [&, n](node& here) {
        actor a(w, here, 2, seed * 8 + n + 4);
        std::vector<std::uint64_t> seen(o.net.nodes);
        while (left == o.net.nodes && !w.failed()) {
          w.sleep(20'000);
          const auto other = static_cast<unsigned>(a.draw.below(o.net.nodes));
          if (other == n) continue;  // it may be written, and not committed
          const std::uint64_t now = here.load(own(other, 0));
          if (now < seen[other]) w.fail("a count goes back");
          seen[other] = now;
        }
      });
    }
    const std::string wrong = w.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(changes, 300u);
}
INSTANTIATE_TEST_SUITE_P(programs_by_token, node_transactions_job, testing::ValuesIn(programs_by_token()),
                         [](const auto& info) {
                           return std::string(info.param.name) + "_of_" + std::to_string(info.param.nodes);
                         });

/// Each transaction leaves room for others. A thread of node 0 waits for a word whose copy then leaves memory, as
/// others of its node need room: no order of the manager comes for a copy that is not there, when node 1 writes it.
TEST(node_transactions, that_wait_hear_of_units_that_have_left_memory) {
  constexpr std::uint64_t page = 4096, base = base_address + (std::uint64_t{2} << 20), pages = 64;
  world_options o;
  o.node.memory_limit = 16 * page;
  o.node.pages_out = true;
  o.node.read_ahead = false;
  world w(o);
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = pages * page;
  about.home = 1;
  about.placement = QUIRE_PLACE_NODE;
  about.consistency = QUIRE_TRANSACTIONAL;
  w.add_region(about);
  std::uint64_t found = 0, most = 0;
  bool has_left = false;
  w.start(0, [&](node& here) {
    auto& all = here.core().transactions;
    for (;;) {
      EXPECT_TRUE(all.begin(false).ok());
      found = here.load(base);
      if (found != 0) break;
      all.retry(-1);
    }
    EXPECT_TRUE(all.commit().ok());
  });
  w.start(0, [&](node& here) {
    auto& all = here.core().transactions;
    w.sleep(1'000'000);
    for (std::uint64_t i = 0; i < 2 * pages; ++i) {
      EXPECT_TRUE(all.begin(false).ok());
      (void)here.load(base + (1 + i % (pages - 1)) * page);
      EXPECT_TRUE(all.commit().ok());
      w.sleep(10'000);
      most = std::max(most, here.core().frames.used() / page);
      has_left |= !here.core().regions.find(base)->machine->has_content(0);
    }
  });
  w.start(1, [&](node& here) {
    w.sleep(20'000'000);
    EXPECT_TRUE(here.core().transactions.begin(false).ok());
    here.store(base, 7);
    EXPECT_TRUE(here.core().transactions.commit().ok());
  });
  EXPECT_EQ(w.run(), "");
  EXPECT_EQ(found, 7u);
  EXPECT_LE(most, 18u) << "transactions that only read keep to the limit, but for what they use at a time";
  EXPECT_TRUE(has_left) << "the copy has stayed, and the test is about none";
}

}  // namespace
}  // namespace quire::whole::whole_transactions_test
