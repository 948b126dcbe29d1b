// SPDX-License-Identifier: BSD-3-Clause
// EP on Quire: no shared memory at all but what all_reduce() carries. It shows what a node costs that only computes.
#include <cstddef>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <quire/quire.hpp>

#include "common/crew.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "ep/kernel.hpp"
#include "ep/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = ep::parse(argc, argv, "quire");
  quire::session job;
  auto result = ep::begin_report(wanted, "quire");
  apps::progress shown("ep", wanted.shown_batches(job.nodes() * wanted.threads), wanted.progress && job.node() == 0);
  ep::tally found;
  apps::crew(wanted).run(
      result, [](auto&) {},
      [&](auto& me) {
        const bool first = me.thread() == 0;
        const auto all = ep::compute(me, wanted.problem.batches(), [&](std::size_t done) {
          if (first) shown.show(done);
        });
        if (first) found = all;
      });
  return quire::broadcast(job.node() == 0 ? ep::finish(wanted, result, found) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "ep: {}\n", e.what());
  return 1;
}
