// SPDX-License-Identifier: BSD-3-Clause
// Shared by ep, ep_openmp and ep_serial.
#include "ep/settings.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace ep {
namespace {

constexpr std::array classes{
    problem_class{"S", 24, -3.247834652034740e3, -6.958407078382297e3},
    problem_class{"W", 25, -2.863319731645753e3, -6.320053679109499e3},
    problem_class{"A", 28, -4.295875165629892e3, -1.580732573678431e4},
    problem_class{"B", 30, 4.033815542441498e4, -2.660669192809235e4},
};

bool close(double found, double expected) {
  constexpr double tolerance = 1e-8;  // of NPB
  return std::abs(found - expected) <= tolerance * std::abs(expected);
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  std::string name = "S";
  apps::command_line app("NAS EP: pairs of Gaussian deviates", variant);
  app.add_choice("--class", name, {"S", "W", "A", "B"}, "size of the problem: S, W, A or B");
  app.parse(wanted, "compare with the official sums (which is always done)", argc, argv);
  for (const problem_class& known : classes)
    if (name == known.name) wanted.problem = known;
  return wanted;
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "ep";
  result.variant = variant;
  result.problem = fmt::format("class {}, 2^{} pairs", wanted.problem.name, wanted.problem.log2_pairs);
  result.threads = wanted.threads;
  return result;
}

int finish(const settings& wanted, apps::report result, const tally& found) {
  const double pairs = std::accumulate(found.rings.begin(), found.rings.end(), 0.0);
  result.values = {{"sx", found.x}, {"sy", found.y}, {"gaussian_pairs", pairs}};
  result.matches = close(found.x, wanted.problem.x) && close(found.y, wanted.problem.y);
  result.reference = fmt::format("the official sums {:.15g}, {:.15g}", wanted.problem.x, wanted.problem.y);
  return apps::print(result, wanted.json);
}

}  // namespace ep
