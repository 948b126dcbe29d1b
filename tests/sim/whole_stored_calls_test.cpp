// SPDX-License-Identifier: BSD-3-Clause
// Regions with a store of their own, one case at a time: what a store does not give, or take, is nobody else's loss;
// nobody waits for others' content; what is dropped is asked for again, and beyond the end of the content there is
// nothing.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/absent_units.hpp"
#include "core/fault_ranges.hpp"
#include "core/frames.hpp"
#include "core/pins.hpp"
#include "core/region_slot.hpp"
#include "core/stored_units.hpp"
#include "core/unit_calls.hpp"
#include "sim/whole/chance_crew.hpp"
#include "sim/whole/kept_store.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole::whole_stored_calls_test {
namespace {

constexpr std::uint64_t page = 4096, granule = std::uint64_t{2} << 20, base = base_address + granule;
constexpr std::uint16_t number = 7;

/// What all nodes' stores reach. Each word is its offset and one until somebody writes it.
struct file {
  std::map<std::uint64_t, std::array<std::uint64_t, page / 8>> pages{};
  std::set<std::uint64_t> bad{};  ///< pages that cannot be read
  std::uint64_t failing = 0;      ///< so many fills fail, and none after them
  std::uint64_t end = UINT64_MAX, resizes = 0, fills = 0, flushes = 0, longest_flush = 0, syncs = 0;
  bool refuses = false;  ///< what begins beyond the end, instead of zeroes
  bool prompt = false;   ///< content is there at once
  int flush_error = 0, sync_error = 0, resize_error = 0;

  [[nodiscard]] std::uint64_t word(std::uint64_t offset) const {
    if (offset >= end) return 0;
    const auto found = pages.find(offset / page);
    return found != pages.end() ? found->second[offset % page / 8] : offset + 1;
  }
};

class disk final : public store::store, public losing {
 public:
  explicit disk(file& of) : of_(of) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    if (++of_.fills <= of_.failing) return EIO;
    for (std::uint64_t number = at / page; number < (at + into.size()) / page; ++number) {
      if (of_.bad.contains(number)) return EIO;
      if (of_.refuses && number * page >= of_.end) return beyond;
    }
    for (std::uint64_t done = 0; done < into.size(); done += 8) {
      const std::uint64_t word = of_.word(at + done);
      std::memcpy(into.data() + done, &word, 8);
    }
    return 0;
  }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    return of_.prompt ? fill(at, into) : EAGAIN;
  }
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override {
    ++of_.flushes;
    of_.longest_flush = std::max<std::uint64_t>(of_.longest_flush, from.size());
    if (of_.flush_error != 0) return of_.flush_error;
    for (std::uint64_t done = 0; done < from.size() && at + done < of_.end; done += page) {
      auto& there = of_.pages[(at + done) / page];
      std::memcpy(there.data(), from.data() + done, page);
      for (std::uint64_t i = 0; i < there.size(); ++i) {
        if (at + done + i * 8 >= of_.end) there[i] = 0;
      }
    }
    return 0;
  }
  [[nodiscard]] int sync() noexcept override {
    ++of_.syncs;
    return of_.sync_error;
  }
  void lose() override {}
  [[nodiscard]] int resize(std::uint64_t bytes) noexcept override {
    if (of_.resize_error != 0) return of_.resize_error;
    ++of_.resizes;
    for (std::uint64_t number = bytes / page; bytes < of_.end && number <= last_page; ++number) {
      std::array<std::uint64_t, page / 8> now{};
      for (std::uint64_t i = 0; i < now.size(); ++i) {
        if (number * page + i * 8 < bytes) now[i] = of_.word(number * page + i * 8);
      }
      of_.pages[number] = now;
    }
    of_.end = bytes;
    return 0;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return of_.end; }
  [[nodiscard]] std::size_t grain() const noexcept override { return page; }
  [[nodiscard]] const char* name() const noexcept override { return "simulated file"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

 private:
  static constexpr std::uint64_t last_page = 4096;
  file& of_;
};

core::region_description describe(std::uint64_t pages, model::placement where = model::placement::node,
                                  std::uint32_t unit = page) {
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = pages * page;
  about.unit_bytes = unit;
  about.placement = static_cast<std::uint8_t>(where);
  about.consistency = QUIRE_SEQUENTIAL;
  about.backing = number;
  return about;
}

world_options options_of(unsigned nodes, std::uint64_t limit = 0) {
  static const std::array stores = {&kept_store::the_row};
  world_options o;
  o.net.nodes = nodes;
  o.node.stores = stores;
  o.node.memory_limit = limit;
  o.node.pages_out = limit != 0;
  return o;
}

/// A job with one region, and its file.
struct job {
  explicit job(const world_options& o, core::region_description about, std::uint64_t end = UINT64_MAX) : w(o) {
    f.end = end;
    for (unsigned n = 0; n < w.nodes(); ++n) w.at(n).core().stored.offer(number, std::make_unique<disk>(f));
    w.add_region(about);
  }
  static core::region_slot& slot(node& here) { return *here.core().regions.slot(model::region_id{1}); }
  file f{};
  world w;
};
constexpr std::uint64_t at(std::uint64_t unit, std::uint64_t word = 0) { return base + unit * page + word * 8; }

// ---- What a store does not give or take

TEST(whole_stored_fill, of_several_units_of_which_one_cannot_be_had) {
  job j(options_of(2), describe(64));
  j.f.bad = {5};
  j.w.start(1, [&j](node& here) {
    prefetch_range(here.core(), base, 16 * page, access::read);
    for (std::uint64_t unit = 0; unit < 16; ++unit) {
      std::uint64_t found = 0;
      EXPECT_EQ(here.try_load(at(unit), found), unit != 5) << unit;
      if (unit != 5) {
        EXPECT_EQ(found, unit * page + 1);
      }
    }
  });
  j.w.start(0, [](node& here) {
    std::uint64_t found = 0;
    prefetch_range(here.core(), base, 16 * page, access::read);
    for (std::uint64_t unit = 16; unit-- > 0;) EXPECT_EQ(here.try_load(at(unit), found), unit != 5) << unit;
  });
  EXPECT_EQ(j.w.run(), "");
}

/// One of them is waited for by a step: who waits for the other goes on as well.
TEST(whole_stored_fill, that_fails_is_told_to_all_who_wait) {
  unsigned waited = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    world_options o = options_of(1);
    o.net.seed = seed;
    o.store_delay = 100'000'000;
    job j(o, describe(64));
    j.f.bad = {0, 1};
    unsigned refused = 0;
    j.w.start(0, [&](node& here) {
      core::region_slot& r = job::slot(here);
      here.core().as_driver([&] { here.core().frames.begin_fill(r, 0, 2); });
      for (std::uint64_t unit = 0; unit < 2; ++unit) {
        j.w.start(0, [&, unit](node& same) {
          std::uint64_t found = 0;
          if (!same.try_load(at(unit), found)) ++refused;
        });
      }
      while (refused == 0 && (!here.core().absent.holds(r, 0) || !here.core().absent.holds(r, 1))) j.w.sleep(10'000);
      here.core().as_driver([&] {
        if (here.core().frames.is_filling(r, 0) && here.core().frames.is_filling(r, 1)) ++waited;
        here.core().absent.settle(r, 0, 1);
      });
    });
    EXPECT_EQ(j.w.run(), "");
    EXPECT_EQ(refused, 2u);
  }
  EXPECT_GT(waited, 10u) << "a step waits for a fill that others wait for, too";
}

/// The store has been mended meanwhile: the failure is no answer to who asks later, on the store's node or on another.
TEST(whole_stored_fill, that_fails_is_no_answer_to_who_has_joined_it) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const std::uint16_t reader : {0, 1}) {
      world_options o = options_of(2);
      o.net.seed = seed;
      o.store_delay = 100'000'000;
      job j(o, describe(64));
      j.f.failing = 1;
      bool over = false;
      j.w.start(reader, [&](node& here) {
        std::uint64_t found = 0;
        (void)here.try_load(at(0), found);
        over = true;
      });
      j.w.start(reader, [&](node& here) {
        node& home = j.w.at(0);
        while (!over && !home.core().frames.is_filling(job::slot(home), 0)) j.w.sleep(10'000);
        std::uint64_t found = 0;
        EXPECT_TRUE(here.try_load(at(0), found)) << "seed " << seed << ", node " << reader;
      });
      EXPECT_EQ(j.w.run(), "");
      EXPECT_GE(j.f.fills, 2u);
    }
  }
}

TEST(whole_stored_sync, that_fails_has_its_units_written_again) {
  world_options o = options_of(2);
  job j(o, describe(64));
  j.w.start(1, [&j](node& here) {
    here.store(at(3), 7);
    j.f.sync_error = EIO;
    EXPECT_EQ(here.core().stored.write_back(base, 64 * page).code(), QUIRE_IO);
    const std::uint64_t flushes = j.f.flushes;
    j.f.pages.clear();  // what the file had taken it has lost
    j.f.sync_error = 0;
    EXPECT_TRUE(here.core().stored.write_back(base, 64 * page).ok());
    EXPECT_GT(j.f.flushes, flushes);
    EXPECT_EQ(j.f.word(3 * page), 7u);
  });
  EXPECT_EQ(j.w.run(), "");
}

TEST(whole_stored_sync, ends_for_all_that_wait_for_it) {
  world_options o = options_of(3);
  o.store_delay = 500'000;
  job j(o, describe(64));
  unsigned failed = 0;
  j.f.sync_error = EIO;
  for (unsigned n = 0; n < 3; ++n) {
    for (unsigned t = 0; t < 3; ++t) {
      j.w.start(n, [&, n, t](node& here) {
        here.store(at(n * 3 + t), 7);
        if (here.core().stored.write_back(at(n * 3 + t), page).code() == QUIRE_IO) ++failed;
      });
    }
  }
  EXPECT_EQ(j.w.run(), "");
  EXPECT_EQ(failed, 9u) << "none of them is in the file for good";
}

/// More than memory has room for, and the file takes nothing: it is tried now and then.
TEST(whole_stored_page_out, to_a_file_that_takes_nothing_rests) {
  job j(options_of(1, 16 * page), describe(64));
  j.f.flush_error = ENOSPC;
  j.w.start(0, [&j](node& here) {
    for (std::uint64_t unit = 0; unit < 32; ++unit) here.store(at(unit), 1);
    for (unsigned i = 0; i < 300; ++i) {
      here.store(at(i % 32, 1), i);
      j.w.sleep(10'000'000);
    }
  });
  EXPECT_EQ(j.w.run(), "");
  EXPECT_GT(j.f.flushes, 3u);
  EXPECT_LT(j.f.flushes, 4 * 64u) << "in three seconds, of 32 units, and what was on its way with them";
}

/// A slow file holds back who writes: memory does not fill up meanwhile.
TEST(whole_stored_page_out, holds_writers_back) {
  world_options o = options_of(1, 64 * page);
  o.store_delay = 3'000'000;
  for (const bool prompt : {false, true}) {
    job j(o, describe(1024));
    j.f.prompt = prompt;
    j.w.start(0, [](node& here) {
      for (std::uint64_t unit = 0; unit < 1024; ++unit) here.store(at(unit), unit);
      for (std::uint64_t unit = 0; unit < 1024; ++unit) EXPECT_EQ(here.load(at(unit)), unit);
    });
    EXPECT_EQ(j.w.run(), "");
    EXPECT_LE(j.w.at(0).core().frames.count.most_bytes, 64 * page * 3 / 2)
        << (prompt ? "what is filled is there at once" : "fills take a while, too");
  }
}

/// Content that the file may yet lose does not leave memory.
TEST(whole_stored_page_out, syncs_first) {
  job j(options_of(1, 16 * page), describe(64));
  j.w.start(0, [](node& here) {
    for (std::uint64_t unit = 0; unit < 64; ++unit) here.store(at(unit), unit);
    for (std::uint64_t unit = 0; unit < 64; ++unit) EXPECT_EQ(here.load(at(unit)), unit);
  });
  EXPECT_EQ(j.w.run(), "");
  EXPECT_GT(j.f.syncs, 0u);
}

// ---- What is on its way to a file

TEST(whole_stored_staging, is_bounded_by_bytes) {
  constexpr std::uint32_t large = 2u << 20;
  constexpr std::uint64_t units = 16;
  job j(options_of(1), describe(units * large / page, model::placement::node, large));
  j.w.start(0, [](node& here) {
    for (std::uint64_t unit = 0; unit < units; ++unit) here.store(base + unit * large, unit);
    EXPECT_TRUE(here.core().stored.write_back(base, units * large).ok());
  });
  EXPECT_EQ(j.w.run(), "");
  EXPECT_GE(j.f.flushes, units);
  EXPECT_LE(j.w.at(0).core().stored.count().most_staged_bytes, std::uint64_t{8} << 20);
}

TEST(whole_stored_staging, goes_in_pieces) {
  job j(options_of(1), describe(1024));
  j.w.start(0, [](node& here) {
    for (std::uint64_t unit = 0; unit < 1024; ++unit) here.store(at(unit), unit);
    EXPECT_TRUE(here.core().stored.write_back(base, 1024 * page).ok());
  });
  EXPECT_EQ(j.w.run(), "");
  EXPECT_LE(j.f.longest_flush, std::uint64_t{1} << 20);
}

/// A node holds more than is written at a time; who writes back others does not wait for it.
TEST(whole_stored_staging, is_not_taken_up_by_what_is_pinned) {
  constexpr std::uint32_t large = 2u << 20;
  constexpr std::uint64_t many = 6, others = 3;  // of which four may be on their way
  job j(options_of(3), describe((many + others) * large / page, model::placement::node, large));
  bool pinned = false, waits = false, other = false;
  j.w.start(1, [&](node& here) {
    int holder = 0;
    for (std::uint64_t unit = 0; unit < many; ++unit)
      EXPECT_TRUE(here.core().pins.acquire(base + unit * large, page, -1, holder).ok());
    for (std::uint64_t unit = 0; unit < many; ++unit) here.store(base + unit * large, 1);
    pinned = true;
    for (unsigned i = 0; i < 1000 && !other; ++i) j.w.sleep(1'000'000);
    EXPECT_TRUE(waits && other) << "nobody else's call has ended in a second";
    for (std::uint64_t unit = 0; unit < many; ++unit) (void)here.core().pins.release(base + unit * large, page);
  });
  j.w.start(2, [&](node& here) {
    while (!pinned) j.w.sleep(1'000'000);
    waits = true;
    EXPECT_TRUE(here.core().stored.write_back(base, many * large).ok());
  });
  j.w.start(0, [&](node& here) {
    while (!waits) j.w.sleep(1'000'000);
    j.w.sleep(20'000'000);
    for (std::uint64_t unit = many; unit < many + others; ++unit) here.store(base + unit * large, 2);
    EXPECT_TRUE(here.core().stored.write_back(base + many * large, others * large).ok());
    other = true;
  });
  EXPECT_EQ(j.w.run(), "");
}

/// A region that goes does not wait for what its file makes last.
TEST(whole_stored_region, that_goes_does_not_wait_for_a_sync) {
  world_options o = options_of(1);
  o.store_delay = 10'000'000;
  job j(o, describe(64));
  j.w.start(0, [](node& here) {
    here.store(base, 1);
    EXPECT_TRUE(here.core().stored.write_back(base, page).ok());
  });
  j.w.start(0, [&j](node& here) {
    while (j.f.flushes == 0) j.w.sleep(10'000);
    j.w.sleep(100'000);
    here.core().as_driver([&here] { here.core().absent.finish(job::slot(here)); });
    EXPECT_EQ(here.crew().count().awaited, 0u);
  });
  EXPECT_EQ(j.w.run(), "");
}

// ---- Dropped

TEST(whole_stored_drop, has_the_file_asked_again) {
  job j(options_of(3), describe(64, model::placement::block));
  j.w.start(2, [&j](node& here) {
    here.store(at(40), 7);
    for (std::uint64_t unit = 0; unit < 64; ++unit) EXPECT_EQ(here.load(at(unit)), unit == 40 ? 7 : unit * page + 1);
    for (std::uint64_t unit = 0; unit < 64; ++unit) j.f.pages[unit].fill(100 + unit);  // by somebody else
    j.f.pages.erase(40);
    EXPECT_TRUE(here.core().stored.drop(base, 64 * page).ok());
    EXPECT_EQ(j.f.word(40 * page), 7u);
    for (std::uint64_t unit = 0; unit < 64; ++unit) EXPECT_EQ(here.load(at(unit)), unit == 40 ? 7 : 100 + unit) << unit;
  });
  EXPECT_EQ(j.w.run(), "");
}

TEST(whole_stored_drop, gives_memory_back) {
  job j(options_of(1), describe(64));
  j.w.start(0, [](node& here) {
    for (std::uint64_t unit = 0; unit < 64; ++unit) (void)here.load(at(unit));
    EXPECT_EQ(here.core().frames.used(), 64 * page);
    EXPECT_TRUE(here.core().stored.drop(at(8), 16 * page).ok());
    EXPECT_EQ(here.core().frames.used(), 48 * page);
  });
  EXPECT_EQ(j.w.run(), "");
}

// ---- Cut and grown

TEST(whole_stored_end, is_cut_on_all_nodes) {
  for (const auto where : {model::placement::node, model::placement::block}) {
    job j(options_of(3), describe(64, where), 64 * page);
    bool read = false, cut = false;
    j.w.start(1, [&](node& here) {
      for (std::uint64_t unit = 0; unit < 64; ++unit) here.store(at(unit, 1), unit + 1);
      for (std::uint64_t unit = 0; unit < 64; ++unit) EXPECT_EQ(here.load(at(unit)), unit * page + 1);
      read = true;
      while (!cut) j.w.sleep(10'000);
      EXPECT_EQ(here.load(at(9, 1)), 10u);
      EXPECT_EQ(here.load(at(10, 0)), 10 * page + 1);
      EXPECT_EQ(here.load(at(10, 1)), 0u) << "of the unit in which the end is";
      for (std::uint64_t unit = 11; unit < 64; ++unit) EXPECT_EQ(here.load(at(unit, 1)), 0u) << unit;
    });
    j.w.start(2, [&](node& here) {
      while (!read) j.w.sleep(10'000);
      EXPECT_TRUE(here.core().stored.cut(base, 10 * page + 8).ok());
      EXPECT_EQ(j.f.end, 10 * page + 8);
      EXPECT_EQ(j.f.resizes, where == model::placement::node ? 1u : 3u);
      cut = true;
      EXPECT_TRUE(here.core().stored.write_back(base, 64 * page).ok());
      EXPECT_EQ(j.f.word(9 * page + 8), 10u);
      // It grows again: what it gains is zero.
      EXPECT_TRUE(here.core().stored.grow(base, 64 * page).ok());
      for (std::uint64_t unit = 11; unit < 64; ++unit) EXPECT_EQ(here.load(at(unit, 1)), 0u) << unit;
      EXPECT_EQ(here.load(at(10, 1)), 0u);
      here.store(at(50, 2), 9);
      EXPECT_TRUE(here.core().stored.write_back(base, 64 * page).ok());
      EXPECT_EQ(j.f.word(50 * page + 16), 9u);
    });
    EXPECT_EQ(j.w.run(), "");
  }
}

/// What was written beyond the end, and flushed, is in the file once the content has grown.
TEST(whole_stored_end, that_grows_has_what_was_written_beyond) {
  job j(options_of(2), describe(64), 10 * page + 8);
  j.w.start(1, [&j](node& here) {
    here.store(at(10, 1), 5);
    here.store(at(20), 6);
    EXPECT_TRUE(here.core().stored.write_back(base, 64 * page).ok());
    EXPECT_EQ(j.f.word(20 * page), 0u);
    EXPECT_TRUE(here.core().stored.grow(base, 64 * page).ok());
    EXPECT_TRUE(here.core().stored.write_back(base, 64 * page).ok());
    EXPECT_EQ(j.f.word(10 * page + 8), 5u);
    EXPECT_EQ(j.f.word(20 * page), 6u);
    EXPECT_TRUE(here.core().stored.drop(base, 64 * page).ok());
    EXPECT_EQ(here.load(at(20)), 6u);
  });
  EXPECT_EQ(j.w.run(), "");
}

TEST(whole_stored_end, is_told_to_who_looks_beyond) {
  job j(options_of(2), describe(64), 10 * page);
  j.f.refuses = true;
  j.w.start(1, [](node& here) {
    std::uint64_t found = 0;
    prefetch_range(here.core(), base, 32 * page, access::read);
    for (std::uint64_t unit = 0; unit < 32; ++unit) EXPECT_EQ(here.try_load(at(unit), found), unit < 10) << unit;
    std::uint64_t before = 0;
    EXPECT_EQ(here.core().calls.atomic(at(12), 0, 1, 0, before).code(), QUIRE_BEYOND);
    EXPECT_TRUE(here.core().stored.cut(base, 4 * page).ok());
    EXPECT_FALSE(here.try_load(at(5), found));
    EXPECT_TRUE(here.core().stored.grow(base, 6 * page).ok());
    EXPECT_TRUE(here.try_load(at(5), found));
    EXPECT_EQ(found, 0u);
  });
  EXPECT_EQ(j.w.run(), "");
}

TEST(whole_stored_end, that_cannot_be_moved_is_told) {
  job j(options_of(2), describe(64), 64 * page);
  j.f.resize_error = EFBIG;
  j.w.start(1, [](node& here) {
    here.store(at(20), 6);
    EXPECT_EQ(here.core().stored.cut(base, 10 * page).code(), QUIRE_IO);
    EXPECT_EQ(here.load(at(20)), 0u);
    EXPECT_EQ(here.core().stored.grow(base, 20 * page).code(), QUIRE_IO);
    EXPECT_EQ(here.core().stored.cut(base + page, page).code(), QUIRE_BAD_ADDRESS);
    EXPECT_EQ(here.core().stored.grow(base, 65 * page).code(), QUIRE_BAD_ADDRESS);
  });
  EXPECT_EQ(j.w.run(), "");
}

/// Growth of which one node's store was capable, and another's not: what the first one has since stays when the content
/// grows by less.
TEST(whole_stored_end, that_has_grown_on_one_node_is_not_cut_by_growth) {
  file of_0{.end = 8 * page}, of_1{.end = 8 * page, .resize_error = EFBIG};
  world w(options_of(2));
  w.at(0).core().stored.offer(number, std::make_unique<disk>(of_0));
  w.at(1).core().stored.offer(number, std::make_unique<disk>(of_1));
  w.add_region(describe(64, model::placement::block));
  w.start(0, [&](node& here) {
    EXPECT_EQ(here.core().stored.grow(base, 32 * page).code(), QUIRE_IO);
    EXPECT_EQ(of_0.end, 32 * page);
    EXPECT_EQ(of_1.end, 8 * page);
    here.store(at(24), 5);
    EXPECT_TRUE(here.core().stored.write_back(base, 64 * page).ok());
    of_1.resize_error = 0;
    EXPECT_TRUE(here.core().stored.grow(base, 12 * page).ok());
    EXPECT_EQ(of_0.word(24 * page), 5u) << "growth has cut";
    EXPECT_EQ(of_1.end, 12 * page);
  });
  EXPECT_EQ(w.run(), "");
}

// ---- In the background

TEST(whole_stored_background, writes_back_now_and_then) {
  world_options o = options_of(2);
  o.node.write_back_ns = 5'000'000;
  job j(o, describe(64));
  j.w.start(1, [&j](node& here) {
    for (unsigned i = 0; i < 40; ++i) {
      here.store(at(i % 8), i);
      (void)here.load(at(8 + i % 8));
      j.w.sleep(1'000'000);
    }
    EXPECT_GT(j.f.flushes, 8u);
    EXPECT_LT(j.f.flushes, 80u);
  });
  EXPECT_EQ(j.w.run(), "");
}

}  // namespace
}  // namespace quire::whole::whole_stored_calls_test
