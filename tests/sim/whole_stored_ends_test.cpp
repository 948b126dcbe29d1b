// SPDX-License-Identifier: BSD-3-Clause
// Regions with a store of their own that are cut, grow, are dropped, go and are made again, on whole nodes at random,
// while threads read, write and write back. What was cut never comes back: not in memory, not in the file, nor when the
// content grows. What is not cut is as whole_stored_test.cpp has it: after a call that writes back the file has every
// write before it, and it never goes back. Cuts may fail: then what the file still has must not come to light.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/counters.hpp"
#include "core/fault_ranges.hpp"
#include "core/region_slot.hpp"
#include "core/stored_units.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/chance_crew.hpp"
#include "sim/whole/kept_store.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole::whole_stored_ends_test {
namespace {

constexpr std::uint64_t page = 4096, pages = 24, words = 8, bytes_of_all = pages * page;
constexpr std::uint16_t number = 7;

/// How old a value of a word is: what the file had at first is 0, and what is written counts up.
constexpr std::int64_t age_of(std::uint64_t value) { return value >> 63 != 0 ? 0 : static_cast<std::int64_t>(value); }
std::uint64_t initial(std::uint64_t offset) { return std::uint64_t{1} << 63 | offset; }

/// A file, of which each node that manages pages has its part. Of each page the first words are used.
struct file {
  using content = std::array<std::uint64_t, words>;
  std::array<content, pages> all{};
  std::array<std::uint64_t, 3> ends{bytes_of_all, bytes_of_all, bytes_of_all};  ///< of each node's part
  std::array<unsigned, pages> part{};                                           ///< whose a page is
  std::uint64_t resizes = 0, failed_resizes = 0, closed = 0, flushes = 0;
  unsigned resizes_fail_percent = 0;
  sim::random draw{1};
  /// Told of each word that is about to be written, with what there was.
  std::function<void(std::uint64_t offset, std::uint64_t before, std::uint64_t now)> on_write{};
  std::vector<class disk*> ways{};

  file() {
    for (std::uint64_t p = 0; p < pages; ++p) {
      for (std::uint64_t w = 0; w < words; ++w) all[p][w] = initial(p * page + w * 8);
    }
  }
  [[nodiscard]] std::uint64_t end_at(std::uint64_t offset) const { return ends[part[offset / page]]; }
  [[nodiscard]] std::uint64_t word(std::uint64_t offset) const {
    return offset < end_at(offset) ? all[offset / page][offset % page / 8] : 0;
  }
};

/// One node's way to it. A sync that fails loses what this node has written since its last good one.
class disk final : public store::store, public losing {
 public:
  disk(file& of, unsigned part) : of_(of), part_(part) { of_.ways.push_back(this); }
  ~disk() override {
    std::erase(of_.ways, this);
    ++of_.closed;
  }
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    std::memset(into.data(), 0, into.size());
    for (std::uint64_t done = 0; done < into.size(); done += page) {
      for (std::uint64_t w = 0; w < words; ++w) {
        const std::uint64_t word = of_.word(at + done + w * 8);
        std::memcpy(into.data() + done + w * 8, &word, 8);
      }
    }
    return 0;
  }
  /// What is beyond the end is not kept.
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override {
    ++of_.flushes;
    for (std::uint64_t done = 0; done < from.size(); done += page) {
      auto& there = of_.all[(at + done) / page];
      unsynced_.try_emplace((at + done) / page, there);
      for (std::uint64_t w = 0; w < words && at + done + w * 8 < of_.ends[part_]; ++w) {
        std::uint64_t word = 0;
        std::memcpy(&word, from.data() + done + w * 8, 8);
        of_.on_write(at + done + w * 8, there[w], word);
        there[w] = word;
      }
    }
    return 0;
  }
  [[nodiscard]] int sync() noexcept override {
    unsynced_.clear();
    return 0;
  }
  void lose() override {
    for (const auto& [number, before] : unsynced_) of_.all[number] = before;
    unsynced_.clear();
  }
  [[nodiscard]] int resize(std::uint64_t bytes) noexcept override {
    if (of_.draw.chance(of_.resizes_fail_percent)) {
      ++of_.failed_resizes;
      return EIO;
    }
    ++of_.resizes;
    for (auto& [number, before] : unsynced_) clear(number, before, bytes);
    for (std::uint64_t p = 0; p < pages; ++p) {
      if (of_.part[p] == part_) clear(p, of_.all[p], bytes);
    }
    of_.ends[part_] = bytes;
    return 0;
  }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    return ++tries_ % 3 == 0 ? fill(at, into) : EAGAIN;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return of_.ends[part_]; }
  [[nodiscard]] std::size_t grain() const noexcept override { return page; }
  [[nodiscard]] const char* name() const noexcept override { return "simulated file"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

 private:
  static void clear(std::uint64_t number, file::content& all, std::uint64_t end) {
    for (std::uint64_t w = 0; w < words; ++w) {
      if (number * page + w * 8 >= end) all[w] = 0;
    }
  }
  file& of_;
  const unsigned part_;
  std::map<std::uint64_t, file::content> unsynced_{};  ///< what the pages had before
  unsigned tries_ = 0;
};

/// What is known of a word. Its values have ages, as they were written.
struct known {
  std::int64_t gone = -1;         ///< those up to here are zero for good
  std::int64_t may_be_gone = -1;  ///< and these perhaps: until somebody has looked, at a time when nobody cuts
};

struct ends_sums {
  std::uint64_t cuts = 0, grown = 0, failed = 0, dropped = 0, lives = 0, written_back = 0, zeroes = 0;
};

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
  return o;
}

class ends_job {
 public:
  ends_job(std::uint64_t seed, unsigned nodes) : seed_(seed), w_(options_of(seed, nodes)), threads_(2 * nodes) {
    file_.resizes_fail_percent = seed % 3 == 1 ? 25 : 0;
    file_.draw = sim::random(sim::mix(seed ^ 0xe4d));
    file_.on_write = [this](std::uint64_t offset, std::uint64_t before, std::uint64_t now) {
      check_write(offset, before, now);
    };
  }
  [[nodiscard]] world& nodes() noexcept { return w_; }

  std::string run(unsigned lives, unsigned steps, ends_sums& sums) {
    sums_ = &sums;
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      for (unsigned t = 0; t < 2; ++t) {
        w_.start(n, [this, me = n * 2 + t, lives, steps](node& here) { live(here, me, lives, steps); });
      }
    }
    return w_.run();
  }

 private:
  // ---- Lives of the region: all threads meet between them

  void live(node& here, unsigned me, unsigned lives, unsigned steps) {
    sim::random draw(sim::mix(seed_ * 64 + me));
    for (unsigned life = 0; life < lives && !w_.failed(); ++life) {
      if (me == life % threads_) make(here);
      meet();
      for (unsigned i = 0; i < steps && !w_.failed(); ++i) step(here, draw, me);
      meet();
      if (me == (life + 1) % threads_) end(here, draw);
      meet();
    }
  }
  /// Virtual time goes by.
  void meet() {
    const unsigned all = (arrived_++ / threads_ + 1) * threads_;
    while (arrived_ < all && !w_.failed()) w_.sleep(50'000);
  }
  void make(node& here) {
    for (unsigned n = 0; n < w_.nodes(); ++n) w_.at(n).core().stored.offer(number, std::make_unique<disk>(file_, n));
    quire_region_options how{};
    how.unit_bytes = page;
    how.placement = seed_ % 2 == 0 ? QUIRE_PLACE_NODE : QUIRE_PLACE_BLOCK;
    how.home = static_cast<int>(seed_ / 2 % w_.nodes());
    how.consistency = QUIRE_SEQUENTIAL;
    if (!here.keeper().create(how, bytes_of_all, handle_, number).ok()) return w_.fail("the region is not made");
    const core::region_ref r = here.core().regions.of_handle(handle_.id);
    base_ = r->about.base;
    w_.watch_region(r->about.id);
    end_ = bytes_of_all;
    for (std::uint64_t p = 0; p < pages; ++p) {
      file_.part[p] = static_cast<unsigned>(r->machine->authority_of(p).value());
      end_ = std::min(end_, file_.ends[file_.part[p]]);
    }
    ++sums_->lives;
  }
  /// Everything is in the file; then the region goes, and with it the stores.
  void end(node& here, sim::random& draw) {
    unsigned tries = 0;
    while (!w_.failed() && !write_back(here, 0, pages)) {
      if (++tries == 1000) return w_.fail("a store takes nothing");
      w_.sleep(1'000'000);
    }
    for (std::uint64_t at = 0; at < end_ && !w_.failed();
         at += at % page == words * 8 - 8 ? page - (words * 8 - 8) : 8) {
      if (!may_be(at, file_.word(at)))
        return w_.fail("at the end the file has " + std::to_string(file_.word(at)) + " at " + std::to_string(at));
      settle(at, file_.word(at));
    }
    if (w_.failed()) return;
    for (std::uint64_t p = 0; p < pages; ++p) {  // of the next life this is what was there
      for (std::uint64_t w = 0; w < words; ++w) found_[p * words + w] = file_.word(p * page + w * 8);
    }
    const bool writes_meanwhile = draw.chance(50);
    if (writes_meanwhile)
      (void)here.try_store(base_ + draw.below(pages) * page + 8 * words,
                           1);  // a word that nobody looks at: something is dirty
    w_.leave_region(here.core().regions.of_handle(handle_.id)->about);
    base::status why;
    while ((why = here.keeper().destroy(handle_)) == QUIRE_BUSY && !w_.failed()) w_.sleep(20'000);
    if (!why.ok()) return w_.fail("the region does not go");
    all_.fill({});
    w_.sleep(5'000'000);
    if (!file_.ways.empty()) w_.fail("a store of a region that has gone is not closed");
    const std::uint64_t flushes = file_.flushes;
    w_.sleep(1'000'000);
    if (file_.flushes != flushes) w_.fail("something of a region that has gone is written");
    cuts_.clear();
  }

  // ---- What is known

  [[nodiscard]] static std::uint64_t index(std::uint64_t at) { return at / page * words + at % page / 8; }
  [[nodiscard]] known& of(std::uint64_t at) { return all_[index(at)]; }
  /// What was written last, or what there was at the beginning of this life.
  [[nodiscard]] std::uint64_t latest(std::uint64_t at) const {
    const std::uint64_t value = w_.latest(base_ + at);
    return value != 0 ? value : sums_->lives == 1 ? initial(at) : found_[index(at)];
  }
  [[nodiscard]] bool may_be(std::uint64_t at, std::uint64_t found) {
    const std::uint64_t value = latest(at);
    if (found == value && (value == 0 || age_of(value) > of(at).gone)) return true;
    return found == 0 && age_of(value) <= of(at).may_be_gone;
  }
  void settle(std::uint64_t at, std::uint64_t found) {
    known& k = of(at);
    const std::uint64_t value = latest(at);
    if (found == 0 && value != 0) k.gone = std::max(k.gone, age_of(value));
    k.may_be_gone = k.gone;
  }
  /// A cut is under way, or the content does not reach so far.
  [[nodiscard]] bool is_unstable(std::uint64_t at) const { return at >= end_ || (resizing_ && at >= cutting_); }
  [[nodiscard]] bool was_cut(std::uint64_t at, std::size_t since) const {
    return std::any_of(cuts_.begin() + static_cast<std::ptrdiff_t>(since), cuts_.end(),
                       [at](std::uint64_t end) { return end <= at; });
  }
  /// The file may lose what was cut; and what was cut for good does not come back.
  void check_write(std::uint64_t offset, std::uint64_t before, std::uint64_t now) {
    if (now != 0 && age_of(now) <= of(offset).gone)
      return w_.fail("what was cut, " + std::to_string(now) + ", is written to the file again");
    const bool goes_back = now != 0 ? age_of(now) < age_of(before)
                                    : before != 0 && age_of(before) > std::max(of(offset).gone, of(offset).may_be_gone);
    if (goes_back && !is_unstable(offset))
      w_.fail("the file goes back, from " + std::to_string(before) + " to " + std::to_string(now));
  }

  // ---- Steps

  void step(node& here, sim::random& draw, unsigned me) {
    if (draw.chance(30)) w_.sleep(draw.below(30'000));
    const std::uint64_t unit = draw.chance(50) ? draw.below(3) : draw.below(pages), chance = draw.below(100);
    if (chance < 35) return write(here, unit * page + me * 8);
    if (chance < 70) return read(here, unit * page + draw.below(words) * 8);
    if (chance < 76)
      return prefetch_range(here.core(), base_ + unit * page, (pages - unit) * page,
                            draw.chance(50) ? access::write : access::read);
    if (chance < 82) return drop(here, unit, draw.chance(50) ? 1 : pages - unit);
    if (chance < 90) return void(write_back(here, unit, draw.chance(50) ? 1 : pages - unit));
    if (!resizing_) resize(here, draw);
  }
  void write(node& here, std::uint64_t at) { (void)here.try_store(base_ + at, w_.unique()); }
  void read(node& here, std::uint64_t at) {
    const std::size_t since = cuts_.size();
    const bool before = is_unstable(at);
    std::uint64_t found = 0;
    if (!here.try_load(base_ + at, found)) {
      if (w_.options().fills_fail_percent == 0) w_.fail("a read is refused, and no store has failed");
      return;
    }
    const bool unstable = before || is_unstable(at) || was_cut(at, since);
    if (found == 0) ++sums_->zeroes;
    if (may_be(at, found)) {
      if (!unstable) settle(at, found);
    } else if (!unstable || found != 0) {
      w_.fail("node " + std::to_string(here.self().value()) + " finds " + std::to_string(found) + " in " +
              w_.name_of(base_ + at) + ", and " + std::to_string(latest(at)) + " was written last; up to " +
              std::to_string(of(at).gone) + " was cut");
    }
  }
  [[nodiscard]] bool may_fail() const {
    const world_options& o = w_.options();
    return o.store_fails_percent + o.syncs_fail_percent + o.fills_fail_percent != 0;
  }
  bool write_back(node& here, std::uint64_t first, std::uint64_t count) {
    std::map<std::uint64_t, std::uint64_t> before;
    for (std::uint64_t unit = first; unit < first + count; ++unit) {
      for (std::uint64_t w = 0; w < words; ++w) {
        const std::uint64_t at = unit * page + w * 8;
        if (!is_unstable(at) && age_of(latest(at)) > of(at).may_be_gone) before[at] = latest(at);
      }
    }
    const std::size_t since = cuts_.size();
    const base::status why = here.core().stored.write_back(base_ + first * page, count * page);
    if (!why.ok()) {
      if (!may_fail()) w_.fail("what was written is not written back, and no store has failed");
      return false;
    }
    ++sums_->written_back;
    for (const auto& [at, value] : before) {
      if (age_of(file_.word(at)) < age_of(value) && !is_unstable(at) && !was_cut(at, since)) {
        w_.fail("a call that writes back has ended, and the file has " + std::to_string(file_.word(at)) +
                " instead of " + std::to_string(value));
      }
    }
    return true;
  }
  void drop(node& here, std::uint64_t unit, std::uint64_t count) {
    const base::status why = here.core().stored.drop(base_ + unit * page, count * page);
    if (why.ok()) {
      ++sums_->dropped;
    } else if (!may_fail()) {
      w_.fail("nothing is dropped, and no store has failed");
    }
  }
  void resize(node& here, sim::random& draw) {
    resizing_ = true;
    const std::uint64_t to = draw.below(bytes_of_all / 8 + 1) * 8;
    draw.chance(50) && end_ != 0 ? cut(here, std::min(to, end_)) : grow(here, std::max(to, end_));
    resizing_ = false;
    cutting_ = bytes_of_all;
  }
  template <class F>
  void for_each_from(std::uint64_t from, std::uint64_t to, F&& f) {
    for (std::uint64_t p = 0; p < pages; ++p) {
      for (std::uint64_t w = 0; w < words; ++w) {
        const std::uint64_t at = p * page + w * 8;
        if (at >= from && at < to) f(at);
      }
    }
  }
  void cut(node& here, std::uint64_t to) {
    std::map<std::uint64_t, std::int64_t> before;
    for_each_from(to, bytes_of_all, [&](std::uint64_t at) { before[at] = age_of(latest(at)); });
    cuts_.push_back(to);
    cutting_ = to;
    const base::status why = here.core().stored.cut(base_, to);
    note_failure(why);
    ++sums_->cuts;
    // After QUIRE_IO, too, what was beyond the end is zero.
    end_ = to;
    for (const auto& [at, age] : before) {
      known& k = of(at);
      k.gone = std::max(k.gone, age);
      k.may_be_gone = std::max({k.may_be_gone, k.gone, age_of(latest(at))});
    }
  }
  /// What was written beyond the end may have been kept.
  void grow(node& here, std::uint64_t to) {
    const base::status why = here.core().stored.grow(base_, to);
    note_failure(why);
    for_each_from(end_, bytes_of_all,
                  [&](std::uint64_t at) { of(at).may_be_gone = std::max(of(at).may_be_gone, age_of(latest(at))); });
    if (!why.ok()) return;
    if (to > end_) ++sums_->grown;
    end_ = to;
  }
  void note_failure(const base::status& why) {
    if (why.ok()) return;
    ++sums_->failed;
    if (why != QUIRE_IO || (file_.resizes_fail_percent == 0 && !may_fail()))
      w_.fail("the end is not moved, and no store has failed");
  }

  std::uint64_t seed_;
  file file_{};
  world w_;
  unsigned threads_, arrived_ = 0;
  ends_sums* sums_ = nullptr;
  quire_region handle_{};
  std::uint64_t base_ = 0, end_ = bytes_of_all;
  std::array<known, pages * words> all_{};
  std::array<std::uint64_t, pages * words> found_{};
  std::vector<std::uint64_t> cuts_{};  ///< that have begun in this life: their ends
  bool resizing_ = false;              ///< the caller's lock
  std::uint64_t cutting_ = bytes_of_all;
};

class whole_stored_ends : public testing::TestWithParam<unsigned> {};

TEST_P(whole_stored_ends, holds_for_every_seed) {
  ends_sums all;
  for (const std::uint64_t seed : sim::seeds(1, 100)) {
    ends_sums own;
    const std::string wrong = ends_job(seed, GetParam()).run(3, 40, own);
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    all.cuts += own.cuts;
    all.grown += own.grown;
    all.failed += own.failed;
    all.dropped += own.dropped;
    all.lives += own.lives;
    all.written_back += own.written_back;
    all.zeroes += own.zeroes;
  }
  if (!sim::usual_seeds()) return;
  EXPECT_GT(all.cuts, 500u);
  EXPECT_GT(all.grown, 300u);
  EXPECT_GT(all.failed, 100u);
  EXPECT_GT(all.dropped, 500u);
  EXPECT_EQ(all.lives, 300u);
  EXPECT_GT(all.written_back, 500u);
  EXPECT_GT(all.zeroes, 1000u);
}

INSTANTIATE_TEST_SUITE_P(nodes, whole_stored_ends, testing::Values(1u, 2u, 3u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::whole::whole_stored_ends_test
