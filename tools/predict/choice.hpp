// SPDX-License-Identifier: BSD-3-Clause
// `quire predict --auto`: how to run a program, from predictions: on how many nodes, and with which options of those
// that leave its meaning as it is. Pure: predictions come from a function.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quire::tools::predict {

/// Options of `quire run` that are worth a try, together.
struct candidate {
  std::vector<std::string> words{};
  std::string why{};      ///< "because ...", or empty
  std::string only_if{};  ///< what the program must be like: then it is told and not taken
};
struct known_time {
  unsigned nodes = 1;
  double ns = 0;
};
/// Nothing: the program does not run so.
using predict_function = std::function<std::optional<double>(unsigned nodes, const std::vector<std::string>& options)>;

struct choice {
  unsigned nodes = 1;
  std::vector<std::string> options{};
  double ns = 0;
};
/// Hears each sentence as soon as it is true.
using say_function = std::function<void(const std::string&)>;
/// `known`: without options; at least one. A number of nodes or an option that gains next to nothing is not taken.
[[nodiscard]] choice choose(const std::vector<known_time>& known, const std::vector<candidate>& all,
                            const predict_function& predict, const say_function& say);

}  // namespace quire::tools::predict
