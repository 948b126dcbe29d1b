// SPDX-License-Identifier: BSD-3-Clause
#include "multiview/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "common/partition.hpp"
#include "sim/random.hpp"

namespace bench::multiview {
namespace {

using apps::row_range;
using quire::model::access;
using timed::node;
using timed::page_bytes;
using timed::pattern;
using timed::region_size;
using timed::time_ns;

[[nodiscard]] time_ns whole(double ns) { return static_cast<time_ns>(ns); }
[[nodiscard]] row_range part(unsigned number, unsigned nodes, std::uint64_t all) {
  return {all * number / nodes, all * (number + 1) / nodes};
}

/// Elements in chunks that cross no page.
class elements {
 public:
  elements(std::uint64_t count, std::uint64_t bytes, const sharing& how) : bytes_(bytes) {
    const std::uint64_t wanted = (how.chunk * bytes + 15) / 16 * 16;
    const bool divided = how.minipages && wanted <= page_bytes / 2;
    chunk_ = how.minipages ? how.chunk : page_bytes / bytes;
    unit_ = divided ? wanted : page_bytes;
    region_ = {.bytes = (at(count - 1) / page_bytes + 1) * page_bytes, .minipage_bytes = divided ? unit_ : 0};
  }
  [[nodiscard]] std::uint64_t at(std::uint64_t i) const {
    const std::uint64_t unit = i / chunk_, a_page = page_bytes / unit_;
    return unit / a_page * page_bytes + unit % a_page * unit_ + i % chunk_ * bytes_;
  }
  [[nodiscard]] const region_size& region() const { return region_; }
  void read(node& me, unsigned in, std::uint64_t i) const { me.read(in, at(i), bytes_); }
  /// One word: under sequential consistency how much of a unit is written does not matter.
  void write(node& me, unsigned in, std::uint64_t i) const { me.write(in, at(i), 8); }

 private:
  std::uint64_t bytes_, chunk_ = 1, unit_ = page_bytes;
  region_size region_{};
};

/// Handles that one node makes and all use, once they have met.
using handles = std::shared_ptr<std::vector<std::uint64_t>>;

void make_mutexes(node& me, unsigned number, const handles& all) {
  if (number == 0)
    for (auto& one : *all) one = me.make_mutex();
  me.barrier();
}

// ---- WATER
// -------------------------------------------------------------------------------------------------------------

void move_water(node& me, const workload& what, const elements& molecules, row_range mine,
                const std::vector<std::uint64_t>& mutexes) {
  const std::uint64_t n = what.size, half = n / 2;
  const double pairs = static_cast<double>(what.rounds + 1) * static_cast<double>(n) * static_cast<double>(half);
  const time_ns molecule_ns = whole(static_cast<double>(what.serial_ns) / pairs * static_cast<double>(half));
  for (unsigned step = 0; step <= what.rounds; ++step) {
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) molecules.write(me, 0, i);
    me.wait();
    if (what.how.composed) me.read_natural(0, 0, molecules.region().bytes);
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) {
      for (std::uint64_t k = 0; k <= half && !what.how.composed; ++k) molecules.read(me, 0, (i + k) % n);
      me.compute(molecule_ns);
    }
    for (std::uint64_t k = 0; k < std::min(n, mine.end - mine.begin + half); ++k) {
      const std::uint64_t i = (mine.begin + k) % n;
      me.lock(mutexes[i]);
      molecules.write(me, 0, i);
      me.unlock(mutexes[i]);
    }
    me.wait();
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) molecules.write(me, 0, i);
    me.sum(5);
  }
}

// ---- LU
// ----------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t block_edge = 32, block_bytes = block_edge * block_edge * sizeof(double);

/// Blocks in one piece each, of which a node owns some here and there.
struct matrix {
  matrix(const workload& what, unsigned node, unsigned nodes) : blocks(what.size / block_edge), number(node) {
    for (std::uint64_t rows = 1; rows * rows <= nodes; ++rows)
      if (nodes % rows == 0) owner_rows = rows;
    owner_columns = nodes / owner_rows;
  }
  [[nodiscard]] bool is_mine(std::uint64_t row, std::uint64_t column) const {
    return row % owner_rows * owner_columns + column % owner_columns == number;
  }
  [[nodiscard]] std::uint64_t at(std::uint64_t row, std::uint64_t column) const {
    return (row * blocks + column) * block_bytes;
  }
  std::uint64_t blocks, number, owner_rows = 1, owner_columns = 1;
};

void fill(node& me, const matrix& a) {
  for (std::uint64_t row = 0; row < a.blocks; ++row)
    for (std::uint64_t column = 0; column < a.blocks; ++column)
      if (a.is_mine(row, column)) me.write(0, a.at(row, column), block_bytes, page_bytes);
}

void factorise(node& me, const workload& what, const matrix& a) {
  const std::uint64_t blocks = a.blocks;
  // Of a block: 2 edge^3 operations for a product, half of them for a division, a third to factor one.
  const double product_ns = static_cast<double>(what.serial_ns) / (static_cast<double>(blocks * blocks * blocks) / 3);
  const auto update = [&](std::uint64_t block, double share) {
    me.write(0, block, block_bytes, page_bytes);
    me.compute(whole(product_ns * share));
  };
  for (std::uint64_t k = 0; k < blocks; ++k) {
    if (a.is_mine(k, k)) update(a.at(k, k), 1.0 / 3);
    me.wait();
    for (std::uint64_t i = k + 1; i < blocks; ++i)
      for (const auto& [row, column] : {std::pair{i, k}, std::pair{k, i}})
        if (a.is_mine(row, column)) me.read(0, a.at(k, k), block_bytes), update(a.at(row, column), 0.5);
    me.wait();
    if (k + 1 < blocks) me.prefetch(0, a.at(k, k + 1), (blocks - k - 1) * block_bytes);
    for (std::uint64_t row = k + 1; row < blocks; ++row)
      for (std::uint64_t column = k + 1; column < blocks; ++column) {
        if (!a.is_mine(row, column)) continue;
        me.read(0, a.at(row, k), block_bytes);
        me.read(0, a.at(k, column), block_bytes);
        update(a.at(row, column), 1);
      }
  }
}

// ---- IS
// ----------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t piece_bytes = 256, value_bytes = 4;

void rank(node& me, const workload& what, unsigned number, unsigned nodes) {
  const std::uint64_t bytes = what.size * value_bytes;
  const time_ns ns = what.serial_ns / what.rounds / nodes;
  for (unsigned round = 0; round < what.rounds; ++round) {
    me.compute(ns);
    for (unsigned turn = 0; turn < nodes; ++turn) {
      const row_range here = part((number + turn) % nodes, nodes, what.size);
      const std::uint64_t first = here.begin * value_bytes, length = (here.end - here.begin) * value_bytes;
      me.prefetch(0, first, length, access::write);
      me.write(0, first, length, piece_bytes);
      me.wait();
    }
    what.how.composed ? me.read_natural(0, 0, bytes) : me.read(0, 0, bytes);
    me.wait();
  }
}

// ---- SOR
// ---------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t row_bytes = 256, border_rows = page_bytes / row_bytes;

/// Row by row near the borders; what lies between is the node's alone, and takes its time at once.
void relax(node& me, const workload& what, const elements& rows, row_range mine) {
  const double row_ns = static_cast<double>(what.serial_ns) / (2.0 * what.rounds) / static_cast<double>(what.size);
  for (unsigned sweep = 0; sweep < 2 * what.rounds; ++sweep) {
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) {
      if (i - mine.begin >= border_rows && mine.end - i > border_rows) {
        const std::uint64_t next = mine.end - border_rows;
        me.compute(whole(row_ns * static_cast<double>(next - i)));
        i = next - 1;
        continue;
      }
      if (i != 0) rows.read(me, 0, i - 1);
      if (i + 1 != what.size) rows.read(me, 0, i + 1);
      rows.write(me, 0, i);
      me.compute(whole(row_ns));
    }
    me.wait();
  }
}

// ---- TSP
// ---------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t tour_bytes = 160, entry_bytes = 8;
constexpr std::uint64_t most_tours = 9000;
constexpr unsigned longer_tours = 12, takes_an_expansion = longer_tours;
enum part_of_search : unsigned { pool, queue, state };

/// What all nodes know of a search; whoever has the lock changes it.
struct search {
  std::uint64_t left = 0, entries = 0, takes = 0, drawn = 0;
  std::vector<std::uint64_t> free{};  ///< the one that was released last comes first
  std::vector<std::uint64_t> waiting{};
};

/// As seeker::take(): who takes a tour releases the one before, and now and then makes longer ones of one.
void seek(node& me, const workload& what, const elements& tours, std::uint64_t mutex, search& all) {
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const double mean_ns = static_cast<double>(what.serial_ns) / static_cast<double>(what.size);
  for (std::uint64_t had = none;;) {
    me.lock(mutex);
    me.write(state, 0, 8);
    const auto release = [&](std::uint64_t tour) { tours.write(me, pool, tour), all.free.push_back(tour); };
    if (had != none) release(had);
    if (all.left == 0) return me.unlock(mutex);
    const auto touch_queue = [&] {  // from the root of the heap to some leaf
      std::uint64_t way = quire::sim::mix(++all.drawn);
      for (std::uint64_t at = 0; at <= all.waiting.size(); at = 2 * at + 1 + way % 2, way /= 2)
        me.write(queue, at * entry_bytes, 8);
    };
    if (all.takes++ % takes_an_expansion == 0 || all.waiting.empty()) {
      for (unsigned i = 0; i < longer_tours && !all.free.empty(); ++i) {
        const std::uint64_t tour = all.free.back();
        all.free.pop_back();
        tours.write(me, pool, tour);
        all.waiting.push_back(tour);
        touch_queue();
      }
    }
    const std::uint64_t pick = quire::sim::mix(++all.drawn) % all.waiting.size();
    const std::uint64_t mine = std::exchange(all.waiting[pick], all.waiting.back());
    all.waiting.pop_back();
    touch_queue();
    tours.read(me, pool, mine);
    --all.left;
    const double chance = (static_cast<double>(quire::sim::mix(++all.drawn) >> 11) + 1) * 0x1p-53;
    me.unlock(mutex);
    tours.read(me, pool, mine);
    me.compute(whole(-std::log(chance) * mean_ns));
    had = mine;
  }
}

}  // namespace

pattern water(const workload& what, unsigned nodes) {
  const elements molecules(what.size, 672, what.how);
  const auto mutexes = std::make_shared<std::vector<std::uint64_t>>(what.size);
  pattern p;
  p.regions = {molecules.region()};
  p.thread_of = [=](unsigned number) {
    return [=](node& me) {
      make_mutexes(me, number, mutexes);
      const row_range mine = part(number, nodes, what.size);
      const auto place = [&] {
        for (std::uint64_t i = mine.begin; i < mine.end; ++i) molecules.write(me, 0, i);
      };
      run_crew(me, place, [&] { move_water(me, what, molecules, mine, *mutexes); });
    };
  };
  return p;
}

pattern lu(const workload& what, unsigned nodes) {
  pattern p;
  p.regions = {{.bytes = what.size * what.size * sizeof(double)}};
  p.thread_of = [=](unsigned number) {
    return [=](node& me) {
      const matrix a(what, number, nodes);
      run_crew(
          me, [&] { fill(me, a); }, [&] { factorise(me, what, a); });
    };
  };
  return p;
}

pattern is(const workload& what, unsigned nodes) {
  pattern p;
  p.regions = {
      {.bytes = what.size * value_bytes, .minipage_bytes = what.how.minipages ? what.how.chunk * piece_bytes : 0}};
  p.thread_of = [=](unsigned number) {
    return [=](node& me) {
      run_crew(
          me, [] {}, [&] { rank(me, what, number, nodes); });
    };
  };
  return p;
}

pattern sor(const workload& what, unsigned nodes) {
  const elements rows(what.size, row_bytes, what.how);
  pattern p;
  p.regions = {rows.region()};
  p.thread_of = [=](unsigned number) {
    return [=](node& me) {
      const row_range mine = apps::block_of_rows(number, nodes, what.size, row_bytes);
      const auto fill = [&] {
        for (std::uint64_t i = mine.begin; i < mine.end; ++i) rows.write(me, 0, i);
      };
      run_crew(me, fill, [&] { relax(me, what, rows, mine); });
    };
  };
  return p;
}

pattern tsp(const workload& what, unsigned) {
  const elements tours(most_tours, tour_bytes, what.how);
  const auto mutex = std::make_shared<std::vector<std::uint64_t>>(1);
  const auto all = std::make_shared<search>();
  all->left = what.size;
  // The search is under way: half of what it will take waits in the queue.
  const std::uint64_t at_first = std::min(what.size / 2 + 1, most_tours / 2);
  for (std::uint64_t i = most_tours; i-- > 0;) (i < at_first ? all->waiting : all->free).push_back(i);
  pattern p;
  p.regions = {tours.region(), {.bytes = most_tours * entry_bytes, .home = 0}, {.bytes = page_bytes, .home = 0}};
  p.thread_of = [=](unsigned number) {
    return [=](node& me) {
      make_mutexes(me, number, mutex);
      const auto prepare = [&] {
        for (std::uint64_t i = 0; i < most_tours && number == 0; ++i)
          tours.write(me, pool, i), me.write(queue, i * entry_bytes, 8);
      };
      run_crew(me, prepare, [&] { seek(me, what, tours, mutex->front(), *all); });
    };
  };
  return p;
}

// ---- Table 1
// -----------------------------------------------------------------------------------------------------------

pattern fetches(std::uint64_t bytes, bool write, unsigned copies) {
  pattern p;
  p.regions = {{.bytes = repetitions * page_bytes, .home = 0, .minipage_bytes = bytes < page_bytes ? bytes : 0}};
  p.thread_of = [=](unsigned number) {
    return [=](node& me) {
      // In an order in which no sweep is seen.
      const auto unit = [](unsigned i) { return i * 7 % repetitions * page_bytes; };
      for (unsigned i = 0; i < repetitions && number == 0; ++i) me.write(0, unit(i), 8);
      me.barrier();
      for (unsigned i = 0; i < repetitions && number != 0 && number <= copies; ++i) me.read(0, unit(i), 8);
      me.barrier();
      if (number != copies + 1) return me.barrier();
      me.begin_measuring();
      for (unsigned i = 0; i < repetitions; ++i) write ? me.write(0, unit(i), 8) : me.read(0, unit(i), 8);
      me.end_measuring();
      me.barrier();
    };
  };
  return p;
}

pattern barriers() {
  pattern p;
  p.regions = {{.bytes = page_bytes}};
  p.thread_of = [](unsigned) {
    return [](node& me) {
      me.barrier();
      me.begin_measuring();
      for (unsigned i = 0; i < repetitions; ++i) me.barrier();
      me.end_measuring();
    };
  };
  return p;
}

pattern locks() {
  const auto mutexes = std::make_shared<std::vector<std::uint64_t>>(repetitions);
  pattern p;
  p.regions = {{.bytes = page_bytes}};
  p.thread_of = [=](unsigned number) {
    return [=](node& me) {
      make_mutexes(me, number, mutexes);
      const auto lock_all = [&] {
        for (const auto mutex : *mutexes) me.lock(mutex), me.unlock(mutex);
      };
      if (number == 0) lock_all();
      me.barrier();
      if (number == 1) {
        me.begin_measuring();
        lock_all();
        me.end_measuring();
      }
      me.barrier();
    };
  };
  return p;
}

}  // namespace bench::multiview
