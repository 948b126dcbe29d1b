// SPDX-License-Identifier: BSD-3-Clause
// Regions with a store of their own, on whole nodes at random: several nodes read and write what is in one file, which
// delays, reorders and fails, and write back. Each read finds what was written last, or what the file had; after a call
// that writes back the file has every write before it; it never goes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/fault_ranges.hpp"
#include "core/frames.hpp"
#include "core/pins.hpp"
#include "core/region_builder.hpp"
#include "core/store_status.hpp"
#include "core/stored_units.hpp"
#include "core/unit_calls.hpp"
#include "model/atomic_operation.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/chance_crew.hpp"
#include "sim/whole/kept_store.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole::whole_stored_test {
namespace {

constexpr std::uint64_t page = 4096, granule = std::uint64_t{2} << 20, pages = 24, base = base_address + granule;
constexpr std::uint16_t number = 7;
constexpr std::uint64_t counter = 511;  ///< the word of each unit that is added to; it begins with 0

/// A file that all nodes reach. Its words are told from what is written by the highest bit.
struct file {
  using content = std::array<std::uint64_t, page / 8>;
  std::map<std::uint64_t, content> written{};
  std::function<void(const std::string&)> wrong{};
  std::uint64_t fills = 0, flushes = 0, syncs = 0, lost = 0;
  bool loses = false;    ///< a test breaks it
  bool forgets = false;  ///< the same: a sync that fails says that it has gone well

  static std::uint64_t initial(std::uint64_t offset) {
    return offset % page == counter * 8 ? 0 : std::uint64_t{1} << 63 | offset;
  }
  /// Values that are written to a word grow.
  static std::uint64_t age(std::uint64_t value) { return value >> 63 != 0 ? 0 : value; }
  [[nodiscard]] std::uint64_t word(std::uint64_t offset) const {
    const auto found = written.find(offset / page);
    return found != written.end() ? found->second[offset % page / 8] : initial(offset);
  }
};

/// One node's way to it. A sync that fails loses what this node has written since its last good one.
class disk final : public store::store, public losing {
 public:
  explicit disk(file& of) : of_(of) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    ++of_.fills;
    for (std::uint64_t done = 0; done < into.size(); done += 8) {
      const std::uint64_t word = of_.word(at + done);
      std::memcpy(into.data() + done, &word, 8);
    }
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override {
    ++of_.flushes;
    for (std::uint64_t done = 0; done < from.size(); done += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from.data() + done, 8);
      if (file::age(word) < file::age(of_.word(at + done))) of_.wrong("a store goes back, to " + std::to_string(word));
    }
    for (std::uint64_t done = 0; done < from.size() && !of_.loses; done += page) {
      const std::uint64_t number = (at + done) / page;
      file::content now;
      for (std::uint64_t word = 0; word < now.size(); ++word) now[word] = of_.word(at + done + word * 8);
      unsynced_.try_emplace(number, now);
      std::memcpy(of_.written[number].data(), from.data() + done, page);
    }
    return 0;
  }
  [[nodiscard]] int sync() noexcept override {
    ++of_.syncs;
    unsynced_.clear();
    return 0;
  }
  void lose() override {
    for (const auto& [number, before] : unsynced_) of_.written[number] = before;
    of_.lost += unsynced_.size();
    unsynced_.clear();
  }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    return ++tries_ % 3 == 0 ? fill(at, into) : EAGAIN;
  }
  [[nodiscard]] std::size_t grain() const noexcept override { return page; }
  [[nodiscard]] const char* name() const noexcept override { return "simulated file"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

 private:
  file& of_;
  std::map<std::uint64_t, file::content> unsynced_{};  ///< what the pages had before
  unsigned tries_ = 0;
};

core::region_description describe(model::placement where) {
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = pages * page;
  about.placement = static_cast<std::uint8_t>(where);
  about.consistency = QUIRE_SEQUENTIAL;
  about.backing = number;
  return about;
}

world_options options_of(std::uint64_t seed, unsigned nodes) {
  static const std::array stores = {&kept_store::the_row};
  world_options o;
  o.net.seed = seed;
  o.net.nodes = nodes;
  o.net.reads_late = seed % 2 == 0;
  o.node.stores = stores;
  o.node.memory_limit = seed % 4 == 0 ? 16 * page : 0;
  o.node.pages_out = o.node.memory_limit != 0;
  o.store_delay = seed % 3 == 0 ? 300'000 : 20'000;
  o.store_fails_percent = seed % 5 == 0 ? 10 : 0;
  o.syncs_fail_percent = seed % 5 == 1 ? 30 : 0;
  o.fills_fail_percent = seed % 7 == 0 ? 10 : 0;
  o.node.write_back_ns = seed % 4 == 1 ? 200'000 : 0;
  o.intruding_percent = seed % 2 == 0 ? 30 : 0;
  return o;
}

struct sums {
  std::uint64_t fills = 0, flushes = 0, syncs = 0, refused = 0, unwritten = 0, lost = 0, dropped = 0;
};

/// A job of threads, each of which has a word of its own in each unit.
class job {
 public:
  job(const world_options& o, std::uint64_t seed, model::placement where) : seed_(seed), w_(o) {
    disk_.wrong = [this](const std::string& what) { w_.fail(what); };
    for (unsigned n = 0; n < w_.nodes(); ++n) w_.at(n).core().stored.offer(number, std::make_unique<disk>(disk_));
    w_.add_region(describe(where));
  }
  file& its_file() { return disk_; }

  std::string run(unsigned threads, unsigned steps, sums& all) {
    left_ = threads * w_.nodes();
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      for (unsigned t = 0; t < threads; ++t) {
        w_.start(n, [this, number = n * threads + t, steps](node& here) {
          sim::random draw(sim::mix(seed_ * 64 + number));
          for (unsigned i = 0; i < steps && !w_.failed(); ++i) step(here, draw, number);
          if (--left_ == 0) end(here);
        });
      }
    }
    std::string wrong = w_.run();
    all.fills += disk_.fills;
    all.flushes += disk_.flushes;
    all.syncs += disk_.syncs;
    all.lost += disk_.lost;
    all.dropped += dropped_;
    all.refused += refused_;
    all.unwritten += unwritten_;
    return wrong;
  }

 private:
  [[nodiscard]] bool may_fail() const { return w_.options().fills_fail_percent != 0; }
  void refuse(const char* what) {
    ++refused_;
    if (!may_fail()) w_.fail(std::string(what) + " is refused, and no store has failed");
  }
  [[nodiscard]] std::uint64_t expected(std::uint64_t at) const {
    return w_.latest(at) != 0 ? w_.latest(at) : file::initial(at - base);
  }

  void read(node& here, std::uint64_t at) {
    std::uint64_t found = 0;
    if (!here.try_load(at, found)) return refuse("a read");
    if (found != expected(at))
      w_.fail("node " + std::to_string(here.self().value()) + " finds " + std::to_string(found) + " in " +
              w_.name_of(at));
  }
  void write(node& here, std::uint64_t at) {
    if (!here.try_store(at, w_.unique())) refuse("a write");
  }
  void add(node& here, std::uint64_t unit) {
    std::uint64_t before = 0;
    const base::status why = here.core().calls.atomic(
        base_of(unit) + counter * 8, static_cast<std::uint32_t>(model::atomic_operation::add), 1, 0, before);
    if (why.ok()) {
      ++added_[unit];
    } else if (why == core::store_status::unreadable) {
      refuse("an operation");
    } else {
      w_.fail("an operation fails");
    }
  }
  /// Of one unit, or of all.
  bool write_back(node& here, std::uint64_t first, std::uint64_t count) {
    std::map<std::uint64_t, std::uint64_t> before;
    for (const auto& [at, value] : w_.all_written()) {
      if (at - base_of(first) < count * page) before[at - base] = value;
    }
    std::vector<std::uint64_t> sums(added_.begin(), added_.end());
    const base::status why = here.core().stored.write_back(base_of(first), count * page);
    if (why == QUIRE_BUSY) return false;  // another thread of the node has pinned something
    if (!why.ok()) {
      ++unwritten_;
      const bool may = w_.options().store_fails_percent != 0 || w_.options().syncs_fail_percent != 0;
      if (!may) w_.fail("what was written is not written back, and no store has failed");
      return false;
    }
    for (const auto& [offset, value] : before) {
      if (file::age(disk_.word(offset)) < value)
        w_.fail("a call that writes back has ended, and the file has not what was written before");
    }
    for (std::uint64_t unit = first; unit < first + count; ++unit) {
      if (disk_.word(unit * page + counter * 8) < sums[unit])
        w_.fail("a call that writes back has ended, and the file has not what was added before");
    }
    return true;
  }
  /// What nobody writes meanwhile is asked for again.
  void drop(node& here, std::uint64_t unit, std::uint64_t count) {
    const base::status why = here.core().stored.drop(base_of(unit), count * page);
    if (why.ok()) ++dropped_;
    if (why.ok() || why == QUIRE_BUSY) return;
    ++unwritten_;
    const world_options& o = w_.options();
    if (o.store_fails_percent == 0 && o.syncs_fail_percent == 0 && o.fills_fail_percent == 0)
      w_.fail("nothing is dropped, and no store has failed");
  }
  void pin(node& here, std::uint64_t unit, std::uint64_t word) {
    int holder = 0;
    const base::status why = here.core().pins.acquire(base_of(unit), page, -1, holder);
    if (why == core::store_status::unreadable) return refuse("a pin");
    if (!why.ok()) return w_.fail("a pin fails");
    write(here, base_of(unit) + word * 8);
    (void)here.core().pins.release(base_of(unit), page);
  }
  void step(node& here, sim::random& draw, unsigned word) {
    if (draw.chance(30)) w_.sleep(draw.below(30'000));
    const std::uint64_t unit = draw.chance(50) ? draw.below(4) : draw.below(pages), chance = draw.below(100);
    if (chance < 35) return write(here, base_of(unit) + word * 8);
    if (chance < 70) return read(here, base_of(unit) + draw.below(8) * 8);
    if (chance < 80) return add(here, unit);
    if (chance < 84) return pin(here, unit, word);
    if (chance < 88)
      return prefetch_range(here.core(), base_of(unit), std::min(draw.between(1, 8), pages - unit) * page,
                            draw.chance(50) ? access::read : access::write);
    const std::uint64_t count = draw.chance(30) ? pages - unit : 1;
    if (chance < 92) return drop(here, unit, count);
    (void)write_back(here, unit, count);
  }
  /// Everybody else has ended.
  void end(node& here) {
    unsigned tries = 0;
    while (!w_.failed() && !write_back(here, 0, pages)) {
      if (++tries == 1000) return w_.fail("a store takes nothing");
      w_.sleep(1'000'000);
    }
    for (const auto& [at, value] : w_.all_written()) {
      if (disk_.word(at - base) != value) w_.fail("at the end the file has something else");
    }
    for (std::uint64_t unit = 0; unit < pages; ++unit) {
      if (disk_.word(unit * page + counter * 8) != added_[unit])
        w_.fail("at the end some operations are not in the file, or were done and refused");
    }
  }
  static std::uint64_t base_of(std::uint64_t unit) { return base + unit * page; }

  std::uint64_t seed_;
  file disk_{};
  world w_;
  std::array<std::uint64_t, pages> added_{};
  std::uint64_t refused_ = 0, unwritten_ = 0, dropped_ = 0;
  unsigned left_ = 0;
};

std::string run_job(std::uint64_t seed, unsigned nodes, sums& all, bool loses = false) {
  job one(options_of(seed, nodes), seed, seed % 2 == 0 ? model::placement::node : model::placement::block);
  one.its_file().loses = loses;
  return one.run(2, 60, all);
}

class whole_stored : public testing::TestWithParam<unsigned> {};

TEST_P(whole_stored, holds_for_every_seed) {
  sums all;
  for (const std::uint64_t seed : sim::seeds(1, 120)) {
    const std::string wrong = run_job(seed, GetParam(), all);
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(all.fills, 1000u);
  EXPECT_GT(all.flushes, 1000u);
  EXPECT_GT(all.syncs, 500u);
  EXPECT_GT(all.refused, 20u);
  EXPECT_GT(all.unwritten, 20u);
  EXPECT_GT(all.lost, 20u);
  EXPECT_GT(all.dropped, 200u);
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_stored, testing::Values(1u, 2u, 3u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

TEST(whole_stored_file, is_caught_when_it_loses_something) {
  unsigned found = 0;
  sums all;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) found += run_job(seed, 2, all, true).empty() ? 0 : 1;
  EXPECT_EQ(found, 10u);
}

/// All nodes read a file that one of them has: it is read once.
TEST(whole_stored_file, is_read_once_for_all_nodes) {
  world_options o = options_of(1, 3);
  file f;
  world w(o);
  f.wrong = [&w](const std::string& what) { w.fail(what); };
  w.at(0).core().stored.offer(number, std::make_unique<disk>(f));
  w.add_region(describe(model::placement::node));
  for (unsigned n = 0; n < 3; ++n) {
    w.start(n, [&w](node& here) {
      for (std::uint64_t at = 0; at < pages * page; at += 8) {
        if (here.load(base + at) != file::initial(at)) w.fail("a node reads something else");
      }
    });
  }
  EXPECT_EQ(w.run(), "");
  EXPECT_EQ(w.at(0).core().frames.count.read, pages);
  EXPECT_EQ(f.flushes, 0u) << "reading makes nothing dirty";
}

TEST(whole_stored_file, is_refused_where_it_cannot_be) {
  world w(options_of(1, 1));
  core::core& c = w.at(0).core();
  EXPECT_EQ(c.builder.add(describe(model::placement::node)).code(), QUIRE_INVALID) << "nobody has offered it";
  file f;
  c.stored.offer(number, std::make_unique<disk>(f));
  core::region_description about = describe(model::placement::node);
  about.consistency = QUIRE_RELEASE;
  EXPECT_EQ(c.builder.add(about).code(), QUIRE_UNSUPPORTED);
  c.stored.offer(number, std::make_unique<disk>(f));
  about = describe(model::placement::node);
  EXPECT_TRUE(c.builder.add(about).ok());
  w.start(0, [](node& here) {
    EXPECT_EQ(here.core().stored.write_back(base + pages * page + granule, page).code(), QUIRE_BAD_ADDRESS);
    EXPECT_TRUE(here.core().stored.write_back(base, page).ok());
    here.store(base, 1);
    int holder = 0;
    EXPECT_TRUE(here.core().pins.acquire(base, page, -1, holder).ok());
    EXPECT_EQ(here.core().stored.write_back(base, page).code(), QUIRE_BUSY);
    (void)here.core().pins.release(base, page);
    EXPECT_TRUE(here.core().stored.write_back(base, page).ok());
  });
  EXPECT_EQ(w.run(), "");
  EXPECT_EQ(f.word(0), 1u);
}

}  // namespace
}  // namespace quire::whole::whole_stored_test
