// SPDX-License-Identifier: BSD-3-Clause
// What stops a program from gaining more, and what to try: sentences, from the prediction and from the records of a run
// for the report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "predict/choice.hpp"
#include "predict/prediction.hpp"

namespace quire::tools::predict {

/// What a program waits for most where it has the most nodes, and since which number of nodes.
[[nodiscard]] std::vector<std::string> what_stops(const std::vector<prediction>& all);
/// Lines and arrays that threads wait for, and settings to try, none of the options in `closed`. `places_threads`:
/// --place is for this program. One sentence in `why` if the records cannot be read.
[[nodiscard]] std::vector<std::string> where_it_stops(const std::string& records, bool places_threads,
                                                      std::span<const std::string> closed,
                                                      std::vector<candidate>& worth_a_try, std::string& why);

}  // namespace quire::tools::predict
