// SPDX-License-Identifier: BSD-3-Clause
// Shared by is, is_openmp and is_serial.
#include "is/settings.hpp"

#include <array>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "common/bits.hpp"

namespace is {
namespace {

constexpr std::array classes{
    problem_class{"S", 16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 3, 0, 0},
    problem_class{
        "W", 20, 16, {357773, 934767, 875723, 898999, 404505}, {1249, 11698, 1039987, 1043896, 1048018}, 2, 2, 0},
    problem_class{
        "A", 23, 19, {2112377, 662041, 5336171, 3642833, 4250760}, {104, 17523, 123928, 8288932, 8388264}, 3, 1, 1},
    problem_class{"millipage", 23, 9},
};

std::vector<double> as_doubles(std::span<const count> counts) { return {counts.begin(), counts.end()}; }

bool verified(const settings& wanted, std::span<const count> counts) {
  apps::lone_worker me;
  std::vector<count> expected(wanted.problem.values());
  part keys = make_keys(wanted.problem, 0, 1);
  (void)rank_again_and_again(me, wanted.problem, keys, {expected}, [](int) {});
  return apps::same_bits("is", as_doubles(counts), as_doubles(expected), 1);
}

}  // namespace

settings parse(int argc, char** argv, const std::string& variant) {
  settings wanted;
  std::string name = "S";
  apps::command_line app("NAS IS: ranks of integer keys", variant);
  app.add_choice("--class", name, {"S", "W", "A", "millipage"},
                 "size of the problem: S, W, A, or millipage: 2^23 keys of 2^9 values");
  app.add_hints(wanted);
  app.add_sharing(wanted.sharing, "256 bytes of counts", wanted.bytes_of_piece, true);
  app.parse(wanted, "compare with a serial run; official ranks are always compared", argc, argv);
  for (const problem_class& known : classes)
    if (name == known.name) wanted.problem = known;
  return wanted;
}

apps::report begin_report(const settings& wanted, const std::string& variant) {
  apps::report result;
  result.program = "is";
  result.variant = variant;
  result.problem = fmt::format("class {}, 2^{} keys of 2^{} values", wanted.problem.name, wanted.problem.log2_keys,
                               wanted.problem.log2_values);
  result.threads = wanted.threads;
  return result;
}

int finish(const settings& wanted, apps::report result, std::span<const count> counts, int wrong) {
  result.checksum = apps::checksum(as_doubles(counts));
  if (wanted.problem.is_official()) {
    result.reference = "the official ranks";
    result.matches = wrong == 0;
    if (wrong != 0) fmt::print(stderr, "is: {} ranks differ from the official ones\n", wrong);
  }
  if (wanted.check) result.matches = verified(wanted, counts) && result.matches.value_or(true);
  return apps::print(result, wanted.json);
}

}  // namespace is
