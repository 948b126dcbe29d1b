// SPDX-License-Identifier: BSD-3-Clause
// Regions of all kinds in one job of whole nodes, and what changes them: one whose consistency changes, one of parallel
// blocks, one whose units are smaller than a page, one for transactions, one that a file keeps. A lock orders words of
// all of them: each read finds what was written last, whichever region the writes before it were in. Between phases the
// nodes meet: for a barrier, a change, or a block. Meanwhile services order words, too: who looks a name up sees what
// was written before it was published; a thread on another node sees what was written before it was asked for, and who
// joins it what it has written. Containers are made, used and removed: whoever opens one finds what was written last
// into its file. Now and then the nodes meet to write a checkpoint, and another job goes on from it; or to collect a
// heap. What services promise stands in the headers that the nodes' services are in (node_*.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
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
#include "tests/sim/node_checkpoints.hpp"
#include "tests/sim/node_collections.hpp"
#include "tests/sim/node_containers.hpp"
#include "tests/sim/node_services.hpp"
#include "tests/sim/shared_file.hpp"

namespace quire::whole::whole_kinds_test {
namespace {

using minipage_regions::page;
using sync::operation;

constexpr std::uint64_t granule = std::uint64_t{2} << 20, pages = 3, records = 12, phases = 6;
constexpr std::uint16_t file_number = 7;

enum kind : std::uint16_t { changed = 1, blocked, divided, committed, stored, heads, collected };
constexpr std::array of_records = {changed, blocked, divided, committed, stored};

class job {
 public:
  job(std::uint64_t seed, unsigned nodes)
      : seed_(seed), draw_(sim::mix(seed ^ 0x71d5)), options_(choose(nodes)), w_(options_) {
    offer(w_, file_);
    for (const kind k : of_records) descriptions_.push_back(describe(k));
    descriptions_.push_back(describe(heads));
    descriptions_.push_back(describe(collected));
    for (const core::region_description& about : descriptions_) w_.add_region(about);
    shelf_.heads = base_address + heads * granule;
    for (unsigned n = 0; n < nodes; ++n) {
      services_.push_back(std::make_unique<node_services>(
          w_, w_.at(n), [this](node& here, std::uint64_t argument) { return visit(here, argument); }));
      containers_.push_back(std::make_unique<node_containers>(w_, w_.at(n), shelf_));
      collections_.push_back(std::make_unique<node_collections>(w_, w_.at(n), heap_, collected));
    }
    for (std::uint64_t i = 0; i < phases; ++i)
      meetings_.push_back(static_cast<meeting>(draw_.below(by_token_ ? 3 : 5)));
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
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (wrong.empty() && services_[n]->kept() + containers_[n]->kept() + collections_[n]->kept() != 0)
        wrong = "a service keeps calls, threads or messages that are over";
    }
    done_["containers"] += shelf_.gone;
    done_["checkpoints"] += checkpoints_.saved;
    done_["collections"] += heap_.collections;
    done_["moved objects"] += heap_.moved;
    done_["freed granules"] += heap_.freed;
    if (wrong.empty() && !checkpoints_.there().empty()) wrong = go_on();
    return wrong;
  }
  [[nodiscard]] const std::map<std::string, unsigned>& done() const { return done_; }

 private:
  /// Commits by token cannot be held still: those jobs have no checkpoints, nor collections.
  enum class meeting : std::uint8_t { barrier, change, block, checkpoint, collection };

  world_options choose(unsigned nodes) {
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
    by_token_ = draw_.chance(30);
    if (by_token_) o.node.protocols = protocol::with_token();
    o.node.detector = {};  // regions may change, and have transactions
    return o;
  }
  static void offer(world& w, shared_file& file) {
    for (unsigned n = 0; n < w.nodes(); ++n)
      w.at(n).core().stored.offer(file_number, std::make_unique<shared_file_store>(file));
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
    if (k == stored || k == blocked || k == heads) about.consistency = QUIRE_SEQUENTIAL;
    if (k == heads) about.bytes = page;
    if (k == collected) about.bytes = heap_.shape.bytes;
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
      const bool visits = a.draw.chance(60), late = a.draw.chance(50);
      if (visits && !late) begin_visit(a, visited, phase, thread);
      for (std::uint64_t i = 2 + a.draw.below(6); i != 0 && !w_.failed(); --i) {
        use_record(a);
        if (a.draw.chance(60)) use_heap(a);
      }
      if (a.draw.chance(50)) use_container(a);
      if (visits && late) begin_visit(a, visited, phase, thread);
      if (!w_.failed()) meet(a, phase);
      if (visits && !w_.failed()) end_visit(a, phase, thread);
    }
    a.must_call(operation::barrier_wait, 0);
    for (const kind k : of_records)
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
  /// A thread that node `argument / phases` has asked for in a phase. It returns what it leaves. It begins its
  /// transactions without the lock: those of its node may be closed for a collection, to which others come after the
  /// lock.
  std::uint64_t visit(node& here, std::uint64_t argument) {
    const auto from = static_cast<unsigned>(argument / phases);
    const std::uint64_t phase = argument % phases;
    constexpr unsigned first_visitor = 3;
    actor a(w_, here, first_visitor + static_cast<unsigned>(argument), sim::mix(seed_ ^ argument));
    a.rest();
    (void)a.read(exchanged(from, phase, 1));
    if (a.draw.chance(40)) use_container(a);
    if (a.draw.chance(30) && !w_.failed()) transact(a, own(committed, from, phase), true);
    for (std::uint64_t i = a.draw.below(8); i != 0 && !w_.failed(); --i) {  // also while others hold content
      a.rest();
      a.write(exchanged(from, phase, 2));
    }
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
    for (const kind k : of_records) {
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

  void use_heap(actor& a) {
    if (w_.failed()) return;
    a.must_call(operation::mutex_lock, mutex_);
    collections_[a.node_number()]->use(a);
    a.must_call(operation::mutex_unlock, mutex_);
  }
  /// What is written is in the file before it is closed, so that the next container of the name has it.
  void use_container(actor& a) {
    if (w_.failed()) return;
    node_containers& here = *containers_[a.node_number()];
    const std::uint64_t name = a.draw.below(2);
    const auto found = here.open(a, name);
    a.must_call(operation::mutex_lock, mutex_);
    for (std::uint64_t i = 0; i < 4 && !w_.failed(); ++i) {
      const std::uint64_t at = found.base + i % container_shelf::pages * page + i * sizeof(std::uint64_t);
      (void)a.read(at);
      if (a.draw.chance(50)) a.write(at);
    }
    a.must_call(operation::mutex_unlock, mutex_);
    here.sync(a, found);
    a.rest();
    here.close(a, found);
    if (a.draw.chance(50) && !w_.failed()) here.remove(a, name);
  }

  void transact(actor& a, std::uint64_t at, bool writes) {
    auto& calls = a.here.core().transactions;
    const std::uint64_t latest = committed_[at], value = w_.unique();
    for (unsigned attempt = 1; !w_.failed(); ++attempt) {
      if (attempt > 2) a.here.pause(a.draw.below(std::uint64_t{2'000} << std::min(attempt, 5u)));
      a.must(calls.begin(attempt > 4), "a transaction's begin");
      ++heap_.transactions;
      std::uint64_t found = latest;
      bool doomed = false;
      try {
        found = a.here.load(at);
        if (writes) a.here.store(at, value);
      } catch (const restart&) {
        doomed = true;
      }
      --heap_.transactions;
      if (writes) committing_[at] = value;
      const auto why = doomed ? calls.abort() : calls.commit();
      committing_.erase(at);
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
      case meeting::checkpoint:
        return checkpoints_.save(a, *containers_[a.node_number()]);
      case meeting::collection:
        // Whoever joins a thread of the phase before has done so: it may want a transaction, which nobody begins here
        // soon.
        a.must_call(operation::barrier_wait, 0);
        return collections_[a.node_number()]->collect(a);
    }
  }

  /// Another job, of so many nodes as it likes, goes on from a checkpoint, and finds what was written last before it.
  std::string go_on() {
    world_options o = options_;
    o.net.seed = sim::mix(seed_ ^ 0x90a7);
    o.net.nodes = 1 + static_cast<unsigned>(draw_.below(4));
    world w(o);
    const auto& all = checkpoints_.there();
    const saved_job& newest =
        *std::find_if(all.rbegin(), std::prev(all.rend()), [](auto& one) { return !one.damaged; });
    shared_file file;
    for (const auto& [address, value] : newest.content) {
      const std::uint64_t at = address - (base_address + stored * granule);
      if (at < pages * page) std::memcpy(file.pages[at / page * page].data() + at % page, &value, sizeof value);
    }
    offer(w, file);
    for (core::region_description about : descriptions_) {
      about.consistency = newest.consistency.at(about.id);
      about.home = static_cast<std::uint16_t>(about.home % w.nodes());
      w.add_region(about);
    }
    job_restart again(w, all);
    for (unsigned n = 0; n < w.nodes(); ++n)
      w.start(n, [&, seed = draw_.next()](node& here) {
        actor a(w, here, 2, seed);
        again.run(a);
        if (again.taken != nullptr) find_what_was_saved(a, w, *again.taken);
      });
    ++done_["restarts"];
    return w.run();
  }
  void find_what_was_saved(actor& a, world& w, const saved_job& saved) {
    const auto is_of_this_job = [&](std::uint64_t address) {
      return (address - base_address) / granule <= collected && !w.failed();
    };
    for (const auto& [address, value] : saved.expected)
      if (a.node_number() == 0 && is_of_this_job(address)) w.wrote(address, value, a.here.self());
    a.must_call(operation::barrier_wait, 0);
    for (const auto& [address, value] : saved.expected)
      if (is_of_this_job(address) && a.draw.chance(40)) (void)a.read(address);
    auto& calls = a.here.core().transactions;
    for (std::uint64_t r = 0; r < records && !w.failed(); ++r) {
      const std::uint64_t at = address(committed, r);
      const auto was = saved.content.find(at);
      a.must(calls.begin(true), "a transaction's begin");
      if (a.here.load(at) != (was == saved.content.end() ? 0 : was->second)) w.fail("a commit is lost at a restart");
      a.must(calls.commit(), "a transaction's end");
    }
    a.must_call(operation::barrier_wait, 0);
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
  bool by_token_ = false;
  world_options options_;
  shared_file file_{};
  world w_;
  std::vector<core::region_description> descriptions_{};
  container_shelf shelf_{};
  observed_heap heap_{w_, base_address + collected* granule, w_.nodes()};
  checkpoints checkpoints_{w_, shelf_, [this](std::uint64_t at, std::uint64_t value) {
                             const auto now = committing_.find(at);
                             const auto last = committed_.find(at);
                             return value == (last == committed_.end() ? 0 : last->second) ||
                                    (now != committing_.end() && value == now->second);
                           }};
  std::vector<std::unique_ptr<node_services>> services_{};
  std::vector<std::unique_ptr<node_containers>> containers_{};
  std::vector<std::unique_ptr<node_collections>> collections_{};
  std::vector<meeting> meetings_{};
  std::uint64_t mutex_ = 0;
  std::map<std::uint64_t, std::uint64_t> committed_{};   ///< by address, where transactions write
  std::map<std::uint64_t, std::uint64_t> committing_{};  ///< the same, while one ends
  std::map<std::string, unsigned> done_{};
};

TEST(whole_kinds, one_lock_orders_words_of_all_kinds_of_regions) {
  std::map<std::string, unsigned> done;
  for (const std::uint64_t seed : sim::seeds(1, 80)) {
    for (const unsigned nodes : {2u, 3u, 4u}) {
      job one(seed, nodes);
      ASSERT_EQ(one.run(), "") << "replay: QUIRE_SIM_SEED=" << seed << ", nodes " << nodes;
      for (const auto& [what, times] : one.done()) done[what] += times;
    }
  }
  if (!sim::usual_seeds()) return;
  for (const char* const what : {"transactions", "changes", "blocks", "names", "threads", "containers", "checkpoints",
                                 "collections", "moved objects", "freed granules", "restarts"})
    EXPECT_GT(done[what], 50u) << what;
}

}  // namespace
}  // namespace quire::whole::whole_kinds_test
