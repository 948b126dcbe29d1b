// SPDX-License-Identifier: BSD-3-Clause
// Shared by water, water_openmp and water_serial.
#include "water/settings.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

namespace water {
namespace {

constexpr double allowed_rounding = 1e-9;       ///< of energies, against a serial run
constexpr double allowed_momentum = 1e-9;       ///< relative to what a molecule has on average
constexpr double allowed_energy_change = 5e-3;  ///< relative to the kinetic energy

struct no_locks {
  [[nodiscard]] int of(std::size_t) const { return 0; }
};

bool verified(const settings& wanted, const outcome& found) {
  std::vector<molecule> memory(wanted.molecules);
  std::vector<molecule*> molecules;
  for (molecule& m : memory) molecules.push_back(&m);
  apps::lone_worker me;
  no_locks locks;
  const liquid serial{molecules, box_of(wanted.molecules)};
  mover(me, serial, locks).place_own();
  const outcome expected = simulate(me, serial, locks, wanted.steps, [](int) {});
  bool fine = true;
  const auto expect = [&](const char* what, double value, double right, double scale) {
    if (std::abs(value - right) <= allowed_rounding * std::abs(scale)) return;
    fmt::print(stderr, "water: {} is {} instead of {}\n", what, value, right);
    fine = false;
  };
  expect("the potential energy", found.last.potential, expected.last.potential, expected.last.potential);
  expect("the kinetic energy", found.last.kinetic, expected.last.kinetic, expected.last.kinetic);
  expect("the mean square displacement", found.square_displacement, expected.square_displacement,
         expected.square_displacement);
  const double typical = std::sqrt(2 * found.last.kinetic * acceleration * (mass[0] + 2 * mass[1]) /
                                   static_cast<double>(wanted.molecules));
  if (!(std::sqrt(square(found.last.momentum)) <= allowed_momentum * typical * static_cast<double>(wanted.molecules))) {
    fmt::print(stderr, "water: momentum is ({}, {}, {}) instead of 0\n", found.last.momentum[0], found.last.momentum[1],
               found.last.momentum[2]);
    fine = false;
  }
  if (!(found.energy_change <= allowed_energy_change)) {
    fmt::print(stderr, "water: energy changes by {} of the kinetic energy, more than {}\n", found.energy_change,
               allowed_energy_change);
    fine = false;
  }
  return fine;
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  apps::command_line app("Molecules of water, moved by forces between all of them", variant);
  app.add<std::size_t>("--molecules", wanted.molecules, 8, 1 << 16, "molecules");
  app.add("--steps", wanted.steps, 0, 1000000, "steps in time, of 0.2 fs");
  app.add_sharing(wanted.sharing, "molecule", sizeof(molecule), true);
  app.has_locks();
  app.parse(wanted, "compare energies with those of a serial run, and see that energy and momentum are conserved", argc,
            argv);
  return wanted;
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "water";
  result.variant = variant;
  result.problem = fmt::format("{} molecules, {} steps", wanted.molecules, wanted.steps);
  result.threads = wanted.threads;
  return result;
}

int finish(const settings& wanted, apps::report result, const outcome& found) {
  result.values = {{"potential", found.last.potential},
                   {"kinetic", found.last.kinetic},
                   {"energy_change", found.energy_change},
                   {"square_displacement", found.square_displacement},
                   {"velocity_autocorrelation", found.autocorrelation}};
  if (wanted.check) result.matches = verified(wanted, found);
  return apps::print(result, wanted.json);
}

}  // namespace water
