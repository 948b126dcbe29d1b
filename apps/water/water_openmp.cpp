// SPDX-License-Identifier: BSD-3-Clause
// WATER as a plain OpenMP program: what the one on Quire is measured against. Built without OpenMP it is the serial
// program.
#include <cstddef>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "common/crew_openmp.hpp"
#include "common/omp_mutex.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "water/kernel.hpp"
#include "water/settings.hpp"

namespace {

/// One a molecule.
class locks {
 public:
  explicit locks(std::size_t molecules) : all_(molecules) {}
  [[nodiscard]] auto of(std::size_t molecule) { return std::unique_lock(all_[molecule]); }

 private:
  std::vector<apps::omp_mutex> all_;
};

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = water::parse(argc, argv, apps::plain_variant);
  std::deque<water::molecule> memory(wanted.molecules);
  std::vector<water::molecule*> molecules;
  for (water::molecule& m : memory) molecules.push_back(&m);
  const water::liquid all{molecules, water::box_of(wanted.molecules)};
  locks own(wanted.molecules);

  auto result = water::begin_report(wanted, apps::plain_variant);
  apps::progress shown("water", static_cast<std::size_t>(wanted.steps), wanted.progress);
  water::outcome found;
  apps::openmp_crew(wanted).run(
      result, [&](auto& me) { water::mover(me, all, own).place_own(); },
      [&](auto& me) {
        const bool first = me.thread() == 0;
        const auto outcome = water::simulate(me, all, own, wanted.steps, [&](int done) {
          if (first) shown.show(static_cast<std::size_t>(done));
        });
        if (first) found = outcome;
      });
  return water::finish(wanted, result, found);
} catch (const std::exception& e) {
  fmt::print(stderr, "water: {}\n", e.what());
  return 1;
}
