// SPDX-License-Identifier: BSD-3-Clause
// EP as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is the serial
// program.
#include <cstddef>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "common/crew_openmp.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "ep/kernel.hpp"
#include "ep/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = ep::parse(argc, argv, apps::plain_variant);
  auto result = ep::begin_report(wanted, apps::plain_variant);
  apps::progress shown("ep", wanted.shown_batches(wanted.threads), wanted.progress);
  ep::tally found;
  apps::openmp_crew(wanted).run(
      result, [](auto&) {},
      [&](auto& me) {
        const bool first = me.thread() == 0;
        const auto all = ep::compute(me, wanted.problem.batches(), [&](std::size_t done) {
          if (first) shown.show(done);
        });
        if (first) found = all;
      });
  return ep::finish(wanted, result, found);
} catch (const std::exception& e) {
  fmt::print(stderr, "ep: {}\n", e.what());
  return 1;
}
