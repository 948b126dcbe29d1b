// SPDX-License-Identifier: BSD-3-Clause
#include "advisor/tuned_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "advisor/advisor.hpp"
#include "base/options.hpp"
#include "command_lines.hpp"
#include "kept_input.hpp"
#include "os/file_content.hpp"

namespace quire::tools::advisor {
namespace {

using bootstrap::launcher::job_outcome;
using bootstrap::launcher::job_plan;

void say(const std::string& text) { fmt::print(stderr, "quire run: --auto: {}\n", text); }

/// The words of this process.
std::vector<std::string> command_line() {
  const std::string text = os::content_of("/proc/self/cmdline").text;
  std::vector<std::string> words;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\0', from), text.size());
    words.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

/// What stays of the user's words after "run": not those of the advisor.
own_words words_that_stay(std::size_t of_program) {
  const auto all = command_line();
  const std::size_t end = all.size() - std::min(all.size(), of_program);
  own_words own;
  std::size_t at = 1;
  while (at < end && all[at] != "run") ++at;
  for (++at; at < end; ++at) {
    const std::string& word = all[at];
    const std::string name = word.substr(0, word.find('='));
    const bool takes_next = name == word && at + 1 < end;
    if (name == "--auto") continue;
    if (name == "--advice") {
      at += takes_next ? 1 : 0;
    } else if (name == "--nodes" || word.starts_with("-n")) {
      own.nodes = " " + plain_or_quoted(word);
      if ((word == "-n" || word == "--nodes") && takes_next) own.nodes += " " + plain_or_quoted(all[++at]);
    } else {
      own.rest += " " + plain_or_quoted(word);
    }
  }
  for (at = end; at < all.size(); ++at) own.rest += " " + plain_or_quoted(all[at]);
  return own;
}

std::string text_of(const std::vector<setting>& all) {
  std::string text;
  for (const setting& one : all)
    for (const auto& word : words_of(one)) text += " " + word;
  return text.empty() ? " as the program is" : " with" + text;
}

/// What is hopeless ends, where another run follows that does the same.
bool limit(job_plan& plan, double seconds) {
  if (!(seconds > 0)) return false;
  const auto most_ms = static_cast<std::int64_t>(std::ceil(seconds * 1000));
  if (plan.timeout_ms > 0 && plan.timeout_ms <= most_ms) return false;
  plan.timeout_ms = most_ms;
  plan.is_trial = true;
  return true;
}

/// The job of the next run. What no job can have is taken back, with a line; nothing: nor can it be without that.
std::optional<job_plan> next_plan(tuning& known, const plan_function& plan_with) {
  for (;;) {
    if (auto plan = plan_with(next_run(known.known())); plan) return plan;
    std::vector<std::string> said;
    std::string why;
    const bool written = known.on_refused(said, why);
    for (const std::string& sentence : said) say(sentence);
    if (!written) say(why);
    if (said.empty()) return std::nullopt;
  }
}

}  // namespace

job_outcome run_tuned(const tuned_wishes& asked, const job_plan& plan, const plan_function& plan_with,
                      const record_folder& records, bool& kept) {
  std::string note;
  tuning known(asked.file, plan, {asked.closed, asked.places_threads, asked.stock, words_that_stay(asked.words.size())},
               note);
  if (!note.empty()) say(note);
  const bool several = asked.runs > 1;
  job_outcome failed_outcome;
  failed_outcome.exit_status = bootstrap::launcher::launcher_failed;
  const kept_input input(several, kept_input::usual_seconds, say);
  if (kept = input.why_not().empty(); !kept) {
    say(input.why_not());
    return failed_outcome;
  }
  std::optional<job_outcome> last;
  for (int run = 1;; ++run) {
    auto with = next_plan(known, plan_with);
    if (!with) return last.value_or(failed_outcome);
    if (last && is_done(known.known())) return *last;  // the rest was refused
    const double seconds = several ? most_seconds(known.known()) : 0;
    const bool is_limited = limit(*with, seconds);
    if (several)
      say(fmt::format("run {} of {} at most,{}{}", run, asked.runs, text_of(next_run(known.known())),
                      is_limited ? fmt::format("; after {:.1f} s that is hopeless, and --auto ends it", seconds) : ""));
    std::vector<std::string> said;
    std::string why;
    with->environment.emplace_back(base::row_of(base::option::report).variable, records.path());
    input.rewind();
    const auto outcome = bootstrap::launcher::run_job(*with);
    const bool was_slow = is_limited && outcome.exit_status == bootstrap::launcher::job_timed_out;
    const bool learnt = kept =
        was_slow ? known.on_slow(seconds, said, why) : known.on_run(outcome.exit_status, records.path(), said, why);
    for (const std::string& sentence : said) say(sentence);
    if (!learnt) say("nothing is learnt from this run: " + why);
    if (!was_slow) last = outcome;
    const bool failed = !was_slow && outcome.exit_status != 0;
    if (run >= asked.runs || !learnt || failed || is_done(known.known())) return last.value_or(outcome);
    records.clear();
  }
}

}  // namespace quire::tools::advisor
