// SPDX-License-Identifier: BSD-3-Clause
// `quire run --auto`: runs a job as often as there is something to find out, at most as often as was asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advisor/decide.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "record_folder.hpp"

namespace quire::tools::advisor {

struct tuned_wishes {
  int runs = 1;  ///< at most
  std::string file{};
  std::vector<std::string> closed{};
  bool places_threads = false;       ///< as in `evidence`
  bool stock = false;                ///< the same, until a record tells
  std::vector<std::string> words{};  ///< program and arguments
};
/// The job with these settings; nothing, after a message, where it cannot have them.
using plan_function = std::function<std::optional<bootstrap::launcher::job_plan>(const std::vector<setting>&)>;

/// `plan`: of the job as the user wants it. The outcome of the last run that was not ended since it was too slow; what
/// was learnt of it is in the file, or `kept` is false.
[[nodiscard]] bootstrap::launcher::job_outcome run_tuned(const tuned_wishes& asked,
                                                         const bootstrap::launcher::job_plan& plan,
                                                         const plan_function& plan_with, const record_folder& records,
                                                         bool& kept);

}  // namespace quire::tools::advisor
