// SPDX-License-Identifier: BSD-3-Clause
// The game of life with tasks, and without a barrier: each computes a band of the next generation, on the node that has
// the band. The last one of a generation registers those of the next. Run it: quire run -n 2 life [GENERATIONS]
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <quire/loop.h>
#include <quire/quire.hpp>
#include <quire/transaction.hpp>

namespace {

constexpr unsigned rows = 192, columns = 256, rows_of_a_band = 16, bands = rows / rows_of_a_band;

/// A torus: the last row is above the first one. A row of 256 bytes; a band is a page, so that nodes write pages of
/// their own.
using grid = std::array<std::array<std::uint8_t, columns>, rows>;
static_assert(sizeof(grid) == bands * 4096);

/// An R pentomino, of which much comes.
void begin(grid& cells) {
  constexpr unsigned r = rows / 2, c = columns / 2;
  cells[r][c] = cells[r][c + 1] = cells[r + 1][c] = cells[r + 1][c - 1] = cells[r + 2][c] = 1;
}

/// Some rows of the next generation.
void advance(const grid& now, grid& next, unsigned first, unsigned count) {
  for (unsigned r = first; r < first + count; ++r) {
    const auto &above = now[(r + rows - 1) % rows], &here = now[r], &below = now[(r + 1) % rows];
    for (unsigned c = 0; c < columns; ++c) {
      const unsigned left = (c + columns - 1) % columns, right = (c + 1) % columns;
      const int neighbours =
          above[left] + above[c] + above[right] + here[left] + here[right] + below[left] + below[c] + below[right];
      next[r][c] = neighbours == 3 || (neighbours == 2 && here[c] != 0) ? 1 : 0;
    }
  }
}

/// In transactional memory.
struct world {
  grid cells[2];        ///< of even generations, of odd ones
  unsigned bands_left;  ///< that the next generation lacks
  std::uint64_t generations;
};
world* g_world = nullptr;

void step(std::uint64_t number);

/// All tasks of a generation. In a transaction, or the first of all.
void register_generation(std::uint64_t generation) {
  for (unsigned band = 0; band < bands; ++band) {
    const quire_task_options there{sizeof there, static_cast<int>(band) * quire::nodes() / static_cast<int>(bands), 4,
                                   0, 0};
    quire::detail::check(quire_task_register(step, generation * bands + band, &there, nullptr), "quire_task_register");
  }
}

/// A task: one band.
void step(std::uint64_t number) {
  const std::uint64_t generation = number / bands, band = number % bands;
  advance(g_world->cells[generation % 2], g_world->cells[(generation + 1) % 2],
          static_cast<unsigned>(band) * rows_of_a_band, rows_of_a_band);
  if (--g_world->bands_left != 0) return;
  g_world->bands_left = bands;
  if (generation + 1 < g_world->generations) {
    register_generation(generation + 1);
  } else {
    quire::detail::check(quire_loop_stop(), "quire_loop_stop");
  }
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const auto generations = static_cast<std::uint64_t>(std::max(1, argc > 1 ? std::atoi(argv[1]) : 60));
  g_world = quire::from_node(0, [] {
    const auto memory = quire::region::create(sizeof(world), {.consistency = quire::consistency::transactional});
    return reinterpret_cast<world*>(memory.bytes().data());
  });
  if (job.node() == 0) {
    quire::atomically([&] {
      begin(g_world->cells[0]);
      g_world->bands_left = bands;
      g_world->generations = generations;
    });
    register_generation(0);
  }
  quire::detail::check(quire_loop_run(), "quire_loop_run");

  // The same by one thread.
  const auto expected = std::make_unique<std::array<grid, 2>>();
  begin((*expected)[0]);
  for (std::uint64_t g = 0; g < generations; ++g) advance((*expected)[g % 2], (*expected)[(g + 1) % 2], 0, rows);
  const grid& last = (*expected)[generations % 2];
  const grid& found = g_world->cells[generations % 2];
  long alive = 0;
  for (const auto& row : found) alive += std::count(row.begin(), row.end(), 1);
  const bool right = found == last;
  std::printf("node %d: %ld cells are alive after %llu generations: %s\n", job.node(), alive,
              static_cast<unsigned long long>(generations), right ? "right" : "wrong");
  return right ? 0 : 1;
}
