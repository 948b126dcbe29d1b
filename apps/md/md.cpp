// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics on Quire. All particles lie in shared memory; each worker owns a block of them. In every step a
// node fetches the positions that others have changed; energies are added by messages.
#include <cstddef>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <quire/quire.hpp>

#include "common/crew.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "common/worker.hpp"
#include "md/kernel.hpp"
#include "md/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = md::parse(argc, argv, "quire");
  quire::session job;
  const auto particles = quire::from_node(0, [&] {
    const auto make = [&] { return apps::make_shared_array(wanted, wanted.size * md::dimensions); };
    return md::particles{make(), make(), make()};
  });

  auto result = md::begin_report(wanted, "quire");
  apps::progress shown("md", static_cast<std::size_t>(wanted.steps), wanted.progress && job.node() == 0);
  md::outcome found;
  const auto mine = [&](const auto& me) { return apps::rows_of(me, wanted.size, md::dimensions * sizeof(double)); };
  apps::crew(wanted, {particles.position})
      .run(
          result, [&](auto& me) { md::place(particles, mine(me)); },
          [&](auto& me) {
            const bool first = me.thread() == 0;
            const auto outcome = md::simulate(me, particles, mine(me), wanted.steps, [&](int done) {
              if (first) shown.show(static_cast<std::size_t>(done));
            });
            if (first) found = outcome;
          });
  return quire::broadcast(job.node() == 0 ? md::finish(wanted, result, particles.position, found) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "md: {}\n", e.what());
  return 1;
}
