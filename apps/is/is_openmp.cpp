// SPDX-License-Identifier: BSD-3-Clause
// IS as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is the serial
// program.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "common/crew_openmp.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "is/kernel.hpp"
#include "is/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = is::parse(argc, argv, apps::plain_variant);
  std::vector<is::count> counts(wanted.problem.values());

  auto result = is::begin_report(wanted, apps::plain_variant);
  apps::progress shown("is", is::iterations, wanted.progress);
  std::vector<is::part> keys(static_cast<std::size_t>(wanted.threads));
  int wrong = 0;
  apps::openmp_crew(wanted).run(
      result, [&](auto& me) { keys[me.number()] = is::make_keys(wanted.problem, me.number(), me.count()); },
      [&](auto& me) {
        const bool first = me.thread() == 0;
        const int found = is::rank_again_and_again(me, wanted.problem, keys[me.number()], {counts}, [&](int done) {
          if (first) shown.show(static_cast<std::size_t>(done));
        });
        if (first) wrong = found;
      });
  return is::finish(wanted, result, counts, wrong);
} catch (const std::exception& e) {
  fmt::print(stderr, "is: {}\n", e.what());
  return 1;
}
