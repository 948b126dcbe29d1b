// SPDX-License-Identifier: BSD-3-Clause
// Shared by md, md_openmp and md_serial.
#include "md/settings.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "common/bits.hpp"

namespace md {
namespace {

constexpr double allowed_energy_change = 1e-6;

bool verified(const settings& wanted, std::span<const double> position, const outcome& found) {
  std::vector<double> memory(3 * wanted.size * dimensions);
  const std::span all(memory);
  const std::size_t size = wanted.size * dimensions;
  const particles serial{all.first(size), all.subspan(size, size), all.last(size)};
  apps::lone_worker me;
  place(serial, {0, wanted.size});
  const outcome expected = simulate(me, serial, {0, wanted.size}, wanted.steps, [](int) {});
  bool fine = apps::same_bits("md", position, serial.position, dimensions);
  if (std::abs(found.last.total() - expected.last.total()) > 1e-9 * std::abs(expected.last.total())) {
    fmt::print(stderr, "md: energy {} instead of {}\n", found.last.total(), expected.last.total());
    fine = false;
  }
  if (found.energy_change > allowed_energy_change) {
    fmt::print(stderr, "md: energy changes by {}, more than {}\n", found.energy_change, allowed_energy_change);
    fine = false;
  }
  return fine;
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  apps::command_line app("Molecular dynamics in three dimensions", variant);
  app.add<std::size_t>("--size", wanted.size, 2, 1 << 20, "particles");
  app.add("--steps", wanted.steps, 0, 1000000, "steps in time");
  app.add_hints(wanted);
  app.parse(wanted, "compare with a serial run in plain memory, bit by bit, and see that energy is conserved", argc,
            argv);
  return wanted;
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "md";
  result.variant = variant;
  result.problem = fmt::format("{} particles, {} steps", wanted.size, wanted.steps);
  result.threads = wanted.threads;
  return result;
}

int finish(const settings& wanted, apps::report result, std::span<const double> position, const outcome& found) {
  result.values = {
      {"potential", found.last.potential}, {"kinetic", found.last.kinetic}, {"energy_change", found.energy_change}};
  result.checksum = apps::checksum(position);
  if (wanted.check) result.matches = verified(wanted, position, found);
  return apps::print(result, wanted.json);
}

}  // namespace md
