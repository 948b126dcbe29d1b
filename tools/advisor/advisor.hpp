// SPDX-License-Identifier: BSD-3-Clause
// `quire run --auto`: from the records of a run to what decide.hpp needs, and the file in which it is kept from run to
// run.
#pragma once

#include <string>
#include <vector>

#include "advisor/decide.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "report/job.hpp"

namespace quire::tools::advisor {

/// `places_threads`: as in `evidence`, which the records do not tell.
[[nodiscard]] evidence evidence_of(const report::job& all, bool places_threads);
/// From when all nodes had met to the last one's end.
[[nodiscard]] double seconds_of(const report::job& all);

struct program_facts {
  std::vector<std::string> closed{};  ///< options that the user has set
  bool places_threads = false;        ///< as in `evidence`
  bool stock = false;                 ///< the same, until a record tells
  own_words own{};                    ///< as how_to_write() takes them
};

/// What is known of one program on so many nodes.
class tuning {
 public:
  /// What the file has of another job is forgotten, with a line in `note`.
  tuning(std::string file, const bootstrap::launcher::job_plan& plan, program_facts about, std::string& note);
  [[nodiscard]] const history& known() const noexcept { return known_; }
  /// After a run with next_run(): sentences for people, and the file is written. False and a sentence in `why` if it
  /// cannot be, or no record was left to learn from.
  [[nodiscard]] bool on_run(int exit_status, const std::string& records, std::vector<std::string>& said,
                            std::string& why);
  /// After one that was ended since it tried something and was too slow.
  [[nodiscard]] bool on_slow(double seconds, std::vector<std::string>& said, std::string& why);
  /// No job can have next_run(). `said` stays empty if nothing was tried.
  [[nodiscard]] bool on_refused(std::vector<std::string>& said, std::string& why);

 private:
  [[nodiscard]] bool keep(std::vector<std::string>& said, std::string& why);
  std::string file_;
  program_facts about_;
  history known_;
};

}  // namespace quire::tools::advisor
