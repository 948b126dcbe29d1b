// SPDX-License-Identifier: BSD-3-Clause
// Shared by sor, sor_openmp and sor_serial.
#include "sor/settings.hpp"

#include <memory>
#include <span>

#include <fmt/format.h>

#include "common/bits.hpp"
#include "sor/kernel.hpp"

namespace sor {
namespace {

constexpr std::size_t least_row_bytes = 3 * sizeof(double);

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  apps::command_line app("Red-black successive over-relaxation on a grid", variant);
  app.add<std::size_t>("--size", wanted.size, 3, 1 << 20, "rows, and columns if --columns does not say others");
  app.add<std::size_t>("--columns", wanted.columns, 3, 1 << 20, "columns", false);
  app.add("--iterations", wanted.iterations, 0, 1000000, "sweeps over red and black");
  if (app.is_quire() || variant == "openmp" || variant == "serial")
    app.add_choice("--cell", wanted.cell, {"double", "float"}, "type of the cells");
  app.add_unit(wanted.unit_kib, "a row, where it can be");
  app.add_hints(wanted);
  app.add_sharing(wanted.sharing, "row", least_row_bytes, false);
  if (app.is_quire()) {
    app.add_text("--checkpoint", wanted.checkpoint,
                 "write checkpoints to this directory, and go on from the last one there");
    app.add("--every", wanted.every, 0, 1000000, "iterations between checkpoints; 0: a tenth of all", false);
  }
  app.has_transactions();
  app.parse(wanted, "compare with a serial run in plain memory, bit by bit", argc, argv);
  if (wanted.columns == 0) wanted.columns = wanted.size;
  return wanted;
}

template <class Cell>
bool equals_serial(const settings& wanted, const grid_of<Cell>& found) {
  const auto memory = std::make_unique_for_overwrite<Cell[]>(found.size());
  const grid_of<Cell> expected = wanted.of(memory.get());
  const apps::row_range all{0, expected.rows};
  initialise_rows(expected, all);
  for (int iteration = 0; iteration < wanted.iterations; ++iteration)
    for (unsigned colour : {0u, 1u}) relax_rows(expected, all, colour);
  return apps::same_bits("sor", std::span<const Cell>(found.cells, found.size()),
                         std::span<const Cell>(expected.cells, expected.size()), found.columns);
}
template bool equals_serial(const settings&, const grid_of<double>&);
template bool equals_serial(const settings&, const grid_of<float>&);

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "sor";
  result.variant = variant;
  result.problem = fmt::format("{} x {}{}, {} iterations", wanted.size, wanted.columns,
                               wanted.cell == "float" ? " floats" : "", wanted.iterations);
  result.threads = wanted.threads;
  return result;
}

}  // namespace sor
