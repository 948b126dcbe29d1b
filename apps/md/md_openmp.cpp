// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is
// the serial program.
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "common/crew_openmp.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/worker.hpp"
#include "md/kernel.hpp"
#include "md/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = md::parse(argc, argv, apps::plain_variant);
  std::array<std::vector<double>, 3> memory;
  for (auto& array : memory) array.resize(wanted.size * md::dimensions);
  const md::particles particles{memory[0], memory[1], memory[2]};

  auto result = md::begin_report(wanted, apps::plain_variant);
  apps::progress shown("md", static_cast<std::size_t>(wanted.steps), wanted.progress);
  md::outcome found;
  const auto mine = [&](const auto& me) { return apps::rows_of(me, wanted.size, md::dimensions * sizeof(double)); };
  apps::openmp_crew(wanted).run(
      result, [&](auto& me) { md::place(particles, mine(me)); },
      [&](auto& me) {
        const bool first = me.thread() == 0;
        const auto outcome = md::simulate(me, particles, mine(me), wanted.steps, [&](int done) {
          if (first) shown.show(static_cast<std::size_t>(done));
        });
        if (first) found = outcome;
      });
  return md::finish(wanted, result, particles.position, found);
} catch (const std::exception& e) {
  fmt::print(stderr, "md: {}\n", e.what());
  return 1;
}
