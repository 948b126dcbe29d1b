// SPDX-License-Identifier: BSD-3-Clause
// SOR on Quire. The grid is one array in shared memory; nodes, and the threads within them, own blocks of rows. Every
// half sweep ends with a barrier; the rows at the border of a block come from the neighbour by page faults, or, if the
// program says beforehand that it will touch them, while it computes others.
//
// With --consistency transactional a block is computed in transactions, a band of rows in each, after Plurix. A half
// sweep has two parts there, each with a barrier: the upper halves of all blocks, then the lower ones. So nobody reads
// rows that another writes meanwhile.
//
// With --checkpoint the grid, and beside it the number of iterations done, are written to files now and then: started
// again, on as many nodes or on others, it goes on from there.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <quire/quire.hpp>
#include <quire/transaction.hpp>

#include "common/bits.hpp"
#include "common/crew.hpp"
#include "common/partition.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "sor/bands.hpp"
#include "sor/kernel.hpp"
#include "sor/settings.hpp"

namespace {

/// A unit as long as a row makes one fault of what would be several, if rows are a power of two and not too long. In
/// transactions any unit will do that is no longer than a row: where blocks meet, only one of them has its turn
/// (sor/bands.hpp).
std::size_t unit_bytes(const sor::settings& wanted) {
  if (wanted.unit_kib != 0) return wanted.unit_kib * 1024;
  const std::size_t row_bytes = wanted.row_bytes();
  if (wanted.consistency == "transactional") return std::clamp<std::size_t>(std::bit_floor(row_bytes), 4096, 65536);
  return std::has_single_bit(row_bytes) ? std::clamp<std::size_t>(row_bytes, 4096, 65536) : 4096;
}

template <class Cell>
quire::region make_grid(const sor::settings& wanted) {
  const std::size_t cells = wanted.size * wanted.columns;
  if (wanted.minipage_bytes() != 0)
    return quire::region::of(
        apps::make_array_in_minipages<Cell>(wanted, wanted.sharing, cells, wanted.minipage_bytes()).data());
  return quire::region::create(cells * sizeof(Cell), apps::array_region(wanted, unit_bytes(wanted)));
}

/// The rows that a block shares with the blocks beside it. Those that it reads come, and those that it writes, of which
/// the neighbours have copies, become its own, before it comes to them.
template <class Cell>
class border_hints {
 public:
  border_hints(const sor::grid_of<Cell>& grid, apps::row_range mine, bool wanted)
      : grid_(grid), mine_(mine), wanted_(wanted) {}
  void at_the_start() const {
    if (mine_.begin == 0) return;
    say(mine_.begin - 1, quire::access::read);
    say(mine_.begin, quire::access::write);
  }
  void half_way() const {
    if (mine_.end == grid_.rows) return;
    say(mine_.end - 1, quire::access::write);
    say(mine_.end, quire::access::read);
  }

 private:
  void say(std::size_t row, quire::access how) const {
    if (wanted_) quire::prefetch(std::span(grid_.row(row), grid_.columns), how);
  }
  sor::grid_of<Cell> grid_;
  apps::row_range mine_;
  bool wanted_;
};

/// The rows of a block in transactions.
template <class Cell>
class transactions {
 public:
  transactions(const sor::settings& wanted, const sor::grid_of<Cell>& grid, apps::row_range mine)
      : grid_(grid), mine_(mine), hints_(wanted.hints) {
    const auto [upper, lower] = sor::halves_of(sor::inner_rows(grid.rows, mine));
    upper_ = sor::bands_of(upper, true, wanted.row_bytes());
    lower_ = sor::bands_of(lower, false, wanted.row_bytes());
  }
  void relax_upper(unsigned colour) const {
    if (mine_.begin != 0) say(mine_.begin - 1);
    relax(upper_, colour);
  }
  void relax_lower(unsigned colour) const {
    if (mine_.end != grid_.rows) say(mine_.end);
    relax(lower_, colour);
  }

 private:
  void relax(const std::vector<apps::row_range>& bands, unsigned colour) const {
    for (const apps::row_range& rows : bands)
      quire::atomically([&] { sor::relax_in_order(grid_, rows.begin, rows.end, colour); });
  }
  void say(std::size_t row) const {
    if (hints_) quire::prefetch(std::span(grid_.row(row), grid_.columns));
  }
  sor::grid_of<Cell> grid_;
  apps::row_range mine_;
  bool hints_;
  std::vector<apps::row_range> upper_{}, lower_{};
};

/// What a later run goes on from, under the name "sor".
struct problem {
  std::size_t size, columns, cell_bytes;
  int done;  ///< iterations
  quire::region grid;
};

/// Writes checkpoints when they are due. Each thread has one, and all come to the same answer.
class saver {
 public:
  saver(const sor::settings& wanted, problem* saved)
      : path_(wanted.checkpoint),
        saved_(saved),
        every_(wanted.every != 0 ? wanted.every : std::max(wanted.iterations / 10, 1)) {}
  [[nodiscard]] bool is_due(int iterations_now) const { return !path_.empty() && iterations_now % every_ == 0; }
  /// Of all nodes; one thread of each calls.
  void save(bool leads) const {
    if (leads) saved_->done += every_;
    const quire_status why = quire_checkpoint(path_.c_str());  // a disk that is full need not end the computation
    if (why != QUIRE_OK && leads)
      fmt::print(stderr, "sor: no checkpoint after iteration {}: {}\n", saved_->done, quire_status_text(why));
  }

 private:
  std::string path_;
  problem* saved_;
  int every_;
};

/// The half sweeps of an iteration, by one of the workers.
template <class Cell>
void iterate(apps::crew::member& me, const sor::grid_of<Cell>& grid, apps::row_range mine,
             const border_hints<Cell>& hints) {
  for (unsigned colour : {0u, 1u}) {
    sor::relax_rows(grid, mine, colour, hints);
    me.wait();
  }
}
template <class Cell>
void iterate(apps::crew::member& me, const transactions<Cell>& block) {
  for (unsigned colour : {0u, 1u}) {
    block.relax_upper(colour);
    me.wait();
    block.relax_lower(colour);
    me.wait();
  }
}

template <class Cell>
void initialise(const sor::settings& wanted, const sor::grid_of<Cell>& grid, apps::row_range mine) {
  if (wanted.consistency != "transactional") return sor::initialise_rows(grid, mine);
  for (const apps::row_range& rows : sor::bands_of(mine, false, wanted.row_bytes()))
    quire::atomically([&] { sor::initialise_rows(grid, rows); });
}

template <class Cell>
apps::report compute(const quire::session& job, const sor::settings& wanted, std::span<Cell> cells, problem* saved) {
  std::vector<Cell*> apart;
  if (wanted.minipage_bytes() != 0)
    apart = apps::pieces_apart(cells.first(wanted.size * wanted.columns), wanted.columns);
  const sor::grid_of<Cell> grid = wanted.of(cells.data(), apart.empty() ? nullptr : apart.data());
  const auto workers = static_cast<std::size_t>(job.nodes() * wanted.threads);
  const auto rows_of = [&](std::size_t thread) {
    const auto worker = static_cast<std::size_t>(job.node() * wanted.threads) + thread;
    return apps::block_of_rows(worker, workers, wanted.size, wanted.row_bytes());
  };
  const int done = saved->done;
  const saver checkpoints(wanted, saved);
  auto result = sor::begin_report(wanted, "quire");
  apps::progress shown("sor", static_cast<std::size_t>(wanted.iterations), wanted.progress && job.node() == 0);
  apps::crew(wanted, {cells})
      .run(
          result,
          [&](apps::crew::member& me) {
            if (done == 0) initialise(wanted, grid, rows_of(me.thread()));
          },
          [&](apps::crew::member& me) {
            const auto mine = rows_of(me.thread());
            const border_hints<Cell> hints(grid, mine, wanted.hints);
            const transactions<Cell> block(wanted, grid, mine);
            for (int iteration = done; iteration < wanted.iterations; ++iteration) {
              wanted.consistency == "transactional" ? iterate(me, block) : iterate(me, grid, mine, hints);
              if (checkpoints.is_due(iteration + 1 - done)) me.alone([&] { checkpoints.save(job.node() == 0); });
              if (me.thread() == 0) shown.show(static_cast<std::size_t>(iteration + 1));
            }
          });
  const apps::row_range of_node{rows_of(0).begin, rows_of(static_cast<std::size_t>(wanted.threads) - 1).end};
  const std::span<const Cell> own(grid.cells + of_node.begin * grid.columns,
                                  (of_node.end - of_node.begin) * grid.columns);
  result.checksum = static_cast<std::uint64_t>(
      quire::all_reduce(static_cast<std::int64_t>(apps::checksum(own)), quire::operation::sum));
  return result;
}

/// The grid: a new one, or what the last checkpoint has of it.
template <class Cell>
problem* find_problem(const quire::session& job, const sor::settings& wanted) {
  if (wanted.checkpoint.empty() || !quire::restore(wanted.checkpoint)) {
    return quire::from_node(0, [&] {
      auto* const made = quire::new_object<problem>();
      made->size = wanted.size;
      made->columns = wanted.columns;
      made->cell_bytes = sizeof(Cell);
      made->grid = make_grid<Cell>(wanted);
      quire::publish("sor", made);
      return made;
    });
  }
  auto* const found = quire::lookup<problem>("sor");
  if (found->size != wanted.size || found->columns != wanted.columns)
    throw std::runtime_error(fmt::format("the checkpoint is of a grid of {0} x {1}; say --size {0} --columns {1}",
                                         found->size, found->columns));
  if (found->cell_bytes != sizeof(Cell))
    throw std::runtime_error(fmt::format("the checkpoint is of a grid of {0}s; say --cell {0}",
                                         found->cell_bytes == sizeof(float) ? "float" : "double"));
  if (job.node() == 0 && !wanted.json) fmt::print("goes on after {} iterations\n", found->done);
  return found;
}

/// The exit status of node 0.
template <class Cell>
int run(const quire::session& job, const sor::settings& wanted) {
  problem* const all = find_problem<Cell>(job, wanted);
  const auto grid = all->grid.span<Cell>();
  auto result = compute<Cell>(job, wanted, grid, all);
  if (job.node() != 0) return 0;
  if (wanted.check) result.matches = sor::equals_serial(wanted, wanted.of(grid.data()));
  return apps::print(result, wanted.json);
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = sor::parse(argc, argv, "quire");
  if (!wanted.checkpoint.empty() && wanted.consistency == "blocks") {
    throw std::runtime_error(
        "there are no checkpoints within parallel blocks: leave out --checkpoint, or choose another --consistency");
  }
  if (!wanted.checkpoint.empty() && wanted.consistency == "transactional")
    throw std::runtime_error(
        "there are no checkpoints of transactional arrays: leave out --checkpoint, or choose another --consistency");
  apps::require_filled_pages(wanted, wanted.minipage_bytes());
  if (wanted.minipage_bytes() != 0 && !wanted.checkpoint.empty())
    throw std::runtime_error("--checkpoint goes with --sharing pages");
  quire::session job;
  const int status = sor::with_cell(wanted, [&]<class Cell>(Cell) { return run<Cell>(job, wanted); });
  return quire::broadcast(status);
} catch (const std::exception& e) {
  fmt::print(stderr, "sor: {}\n", e.what());
  return 1;
}
