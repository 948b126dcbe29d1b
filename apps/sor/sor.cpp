// SPDX-License-Identifier: BSD-3-Clause
// SOR on Quire. The grid is one array in shared memory; nodes, and the threads within them, own blocks of rows. Every
// half sweep ends with a barrier; the rows at the border of a block come from the neighbour by page faults, or, if the
// program says beforehand that it will touch them, while it computes others.
//
// With --checkpoint the grid, and beside it the number of iterations done, are written to files now and then: started again, on as many
// nodes or on others, it goes on from there.
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

#include "common/bits.hpp"
#include "common/crew.hpp"
#include "common/partition.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "sor/kernel.hpp"
#include "sor/settings.hpp"

namespace {

/// A unit as long as a row makes one fault of what would be several, if rows are a power of two and not too long.
std::size_t unit_bytes(const sor::settings& wanted) {
  if (wanted.unit_kib != 0) return wanted.unit_kib * 1024;
  const std::size_t row_bytes = wanted.row_bytes();
  return std::has_single_bit(row_bytes) ? std::clamp<std::size_t>(row_bytes, 4096, 65536) : 4096;
}

quire::region make_grid(const sor::settings& wanted) {
  const std::size_t cells = wanted.size * wanted.columns;
  if (wanted.minipage_bytes() != 0)
    return quire::region::of(apps::make_array_in_minipages<double>(wanted, wanted.sharing, cells, wanted.minipage_bytes()).data());
  return quire::region::create(cells * sizeof(double), apps::array_region(wanted, unit_bytes(wanted)));
}

/// The rows that a block shares with the blocks beside it. Those that it reads come, and those that it writes, of which the
/// neighbours have copies, become its own, before it comes to them.
class border_hints {
 public:
  border_hints(const sor::grid& grid, apps::row_range mine, bool wanted) : grid_(grid), mine_(mine), wanted_(wanted) {}
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
  sor::grid grid_;
  apps::row_range mine_;
  bool wanted_;
};

/// What a later run goes on from, under the name "sor".
struct problem {
  std::size_t size, columns;
  int done;  ///< iterations
  quire::region grid;
};

/// Writes checkpoints when they are due. Each thread has one, and all come to the same answer.
class saver {
 public:
  saver(const sor::settings& wanted, problem* saved)
      : path_(wanted.checkpoint), saved_(saved), every_(wanted.every != 0 ? wanted.every : std::max(wanted.iterations / 10, 1)) {}
  [[nodiscard]] bool is_due(int iterations_now) const { return !path_.empty() && iterations_now % every_ == 0; }
  /// Of all nodes; one thread of each calls.
  void save(bool leads) const {
    if (leads) saved_->done += every_;
    const quire_status why = quire_checkpoint(path_.c_str());  // a disk that is full need not end the computation
    if (why != QUIRE_OK && leads) fmt::print(stderr, "sor: no checkpoint after iteration {}: {}\n", saved_->done, quire_status_text(why));
  }

 private:
  std::string path_;
  problem* saved_;
  int every_;
};

apps::report compute(const quire::session& job, const sor::settings& wanted, std::span<double> cells, problem* saved) {
  std::vector<double*> apart;
  if (wanted.minipage_bytes() != 0) apart = apps::pieces_apart(cells.first(wanted.size * wanted.columns), wanted.columns);
  const sor::grid grid = wanted.of(cells.data(), apart.empty() ? nullptr : apart.data());
  const auto workers = static_cast<std::size_t>(job.nodes() * wanted.threads);
  const auto rows_of = [&](int thread) {
    const auto worker = static_cast<std::size_t>(job.node() * wanted.threads + thread);
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
            if (done == 0) sor::initialise_rows(grid, rows_of(static_cast<int>(me.thread())));
          },
          [&](apps::crew::member& me) {
            const auto mine = rows_of(static_cast<int>(me.thread()));
            const border_hints hints(grid, mine, wanted.hints);
            for (int iteration = done; iteration < wanted.iterations; ++iteration) {
              for (unsigned colour : {0u, 1u}) {
                sor::relax_rows(grid, mine, colour, hints);
                me.wait();
              }
              if (checkpoints.is_due(iteration + 1 - done)) me.alone([&] { checkpoints.save(job.node() == 0); });
              if (me.thread() == 0) shown.show(static_cast<std::size_t>(iteration + 1));
            }
          });
  const apps::row_range of_node{rows_of(0).begin, rows_of(wanted.threads - 1).end};
  const auto sum = static_cast<std::int64_t>(
      apps::checksum({grid.cells + of_node.begin * grid.columns, (of_node.end - of_node.begin) * grid.columns}));
  result.checksum = static_cast<std::uint64_t>(quire::all_reduce(sum, quire::operation::sum));
  return result;
}

/// The grid: a new one, or what the last checkpoint has of it.
problem* find_problem(const quire::session& job, const sor::settings& wanted) {
  if (wanted.checkpoint.empty() || !quire::restore(wanted.checkpoint)) {
    return quire::from_node(0, [&] {
      auto* const made = quire::new_object<problem>();
      made->size = wanted.size;
      made->columns = wanted.columns;
      made->grid = make_grid(wanted);
      quire::publish("sor", made);
      return made;
    });
  }
  auto* const found = quire::lookup<problem>("sor");
  if (found->size != wanted.size || found->columns != wanted.columns)
    throw std::runtime_error(fmt::format("the checkpoint is of a grid of {0} x {1}; say --size {0} --columns {1}", found->size, found->columns));
  if (job.node() == 0 && !wanted.json) fmt::print("goes on after {} iterations\n", found->done);
  return found;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = sor::parse(argc, argv, "quire");
  if (!wanted.checkpoint.empty() && wanted.consistency == "blocks") {
    throw std::runtime_error("there are no checkpoints within parallel blocks: leave out --checkpoint, or choose another --consistency");
  }
  apps::require_filled_pages(wanted, wanted.minipage_bytes());
  if (wanted.minipage_bytes() != 0 && !wanted.checkpoint.empty()) throw std::runtime_error("--checkpoint goes with --sharing pages");
  quire::session job;
  problem* const all = find_problem(job, wanted);
  const auto grid = all->grid.span<double>();
  auto result = compute(job, wanted, grid, all);
  int status = 0;
  if (job.node() == 0) {
    if (wanted.check) result.matches = sor::equals_serial(wanted, wanted.of(grid.data()));
    status = apps::print(result, wanted.json);
  }
  return quire::broadcast(status);
} catch (const std::exception& e) {
  fmt::print(stderr, "sor: {}\n", e.what());
  return 1;
}
