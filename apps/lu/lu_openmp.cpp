// SPDX-License-Identifier: BSD-3-Clause
// LU as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is the serial
// program.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "common/crew_openmp.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "lu/kernel.hpp"
#include "lu/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = lu::parse(argc, argv, apps::plain_variant);
  std::vector<double> memory(wanted.size * wanted.size);
  const lu::matrix a{memory, wanted.size, wanted.edge};

  auto result = lu::begin_report(wanted, apps::plain_variant);
  apps::progress shown("lu", a.blocks(), wanted.progress);
  apps::openmp_crew(wanted).run(
      result, [&](auto& me) { lu::fill(me, a); },
      [&](auto& me) {
        lu::factorise(me, a, [&](std::size_t done) {
          if (me.thread() == 0) shown.show(done);
        });
      });
  return lu::finish(wanted, result, a);
} catch (const std::exception& e) {
  fmt::print(stderr, "lu: {}\n", e.what());
  return 1;
}
