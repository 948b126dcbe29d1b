// SPDX-License-Identifier: BSD-3-Clause
#include "advisor/decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace quire::tools::advisor {
namespace {

constexpr std::size_t runs_each = 2;  // of what is compared; the faster one counts
constexpr double least_gain = 0.95;   // of the time before: less is noise
constexpr double hopeless = 1.25;     // so much slower once is enough
constexpr std::string_view ends[] = {"planned", "open", "kept", "taken-back"};  // in the order of trial::end
constexpr std::string_view title = "quire.advice 1";

double fastest(const std::vector<double>& seconds) { return *std::ranges::min_element(seconds); }

bool is_of_run(const setting& s) {
  return s.option == tuned_memory || s.option == tuned_place || s.option == tuned_nodes;
}
/// As on the command line; of what --set takes only that.
std::string text_of(const setting& s) {
  const auto words = words_of(s);
  return is_of_run(s) ? words[0] + " " + words[1] : words[1];
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.0f} %",
                     100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(whole, 1)));
}

trial* first_that_is(history& of, trial::end how) {
  const auto at = std::ranges::find(of.trials, how, &trial::how);
  return at != of.trials.end() ? &*at : nullptr;
}
trial* open_trial(history& of) { return first_that_is(of, trial::end::open); }
bool has_open_trial(const history& of) {
  return std::ranges::find(of.trials, trial::end::open, &trial::how) != of.trials.end();
}

/// Tried already, with whatever end.
bool was_tried(const history& of, const setting& s) {
  return std::ranges::find(of.trials, s, &trial::what) != of.trials.end();
}
/// An option that is kept is settled.
bool is_settled(const history& of, const std::string& option) {
  return std::ranges::any_of(of.trials,
                             [&](const trial& t) { return t.how == trial::end::kept && t.what.option == option; });
}

/// Plans anew: what this run, which had just what is kept, says.
void plan(history& of, const evidence& told, std::span<const std::string> closed) {
  std::erase_if(of.trials, [](const trial& t) { return t.how == trial::end::planned; });
  for (proposal& p : propose(told, closed))
    if (!was_tried(of, p.what) && !is_settled(of, p.what.option))
      of.trials.push_back({std::move(p.what), std::move(p.why)});
}

/// Begins the next trial, if there is something to try. A sentence.
std::string begin_trial(history& of) {
  trial* const next = first_that_is(of, trial::end::planned);
  if (next == nullptr) return "nothing is left to try";
  next->how = trial::end::open;
  return fmt::format("the next run tries {}, {}", text_of(next->what), next->why);
}

std::string judge(history& of, trial& t) {
  const double before = fastest(of.base), now = fastest(t.seconds);
  const bool faster = now <= least_gain * before;
  if (t.seconds.size() < runs_each && (faster || now < hopeless * before))
    return fmt::format("tried {}: {:.3f} s, against {:.3f} s without it; one run more decides", text_of(t.what), now,
                       before);
  if (!faster) {
    t.how = trial::end::taken_back;
    return fmt::format("tried {}: {:.3f} s, against {:.3f} s without it: {}, so it is taken back", text_of(t.what), now,
                       before, now > before / least_gain ? "slower" : "no gain");
  }
  t.how = trial::end::kept;
  of.base = t.seconds;
  return fmt::format("tried {}: {:.3f} s, against {:.3f} s without it: kept", text_of(t.what), now, before);
}

std::string in_program(const setting& s, bool stock) {
  if (stock) return s.option == "heap_views" ? "the program can keep what threads write apart: alignas, padding" : "";
  if (s.option == "unit")
    return "the program can say so for arrays of its own: quire_region_options.unit_bytes (quire_region_create())";
  if (s.option == "heap_views")
    return "the program can say so for a heap of its own: quire_region_options.views (quire_region_create()), or keep "
           "what nodes write apart: alignas, padding";
  return "";
}

using savings = std::vector<std::pair<std::uint64_t, proposal>>;  // with what each may save, ns

/// Of programs that know nothing of nodes: which memory, where threads begin, and whether fewer nodes do.
void add_of_stock(const evidence& from, savings& all) {
  if (!from.stock || from.nodes < 2) return;
  // Of several threads of a node one may wait all the time.
  const std::string faults = fmt::format("because waiting for pages takes {} of the time of {} nodes",
                                         percent(from.fault_ns, from.nodes_ns), from.nodes);
  if (from.fault_ns * 10 >= from.nodes_ns && from.fault_ns != 0) {
    all.push_back({from.fault_ns / 2, {{tuned_memory, "auto"}, faults}});
    if (from.places_threads && from.threads > from.nodes) {
      const unsigned each = (from.threads + from.nodes - 1) / from.nodes;
      all.push_back({from.fault_ns / 4, {{tuned_place, fmt::format("blocks:{}", each)}, faults}});
      all.push_back({from.fault_ns / 8, {{tuned_place, "round"}, faults}});
    }
  }
  if (from.waited_ns * 5 < from.nodes_ns || from.waited_ns == 0) return;
  // When all else has been tried: with other settings more nodes may do.
  for (unsigned n = 1; n < from.nodes; n *= 2)
    all.push_back({0,
                   {{tuned_nodes, std::to_string(n)},
                    fmt::format("because waiting takes {} of the time of {} nodes",
                                percent(from.waited_ns, from.nodes_ns), from.nodes)}});
}

}  // namespace

std::vector<std::string> words_of(const setting& s) {
  if (s.option == tuned_nodes) return {"-n", s.value};
  if (is_of_run(s)) return {"--" + s.option, s.value};
  return {"--set", s.option + "=" + s.value};
}

std::vector<proposal> propose(const evidence& from, std::span<const std::string> closed) {
  constexpr std::uint64_t page = 4096, enough = 256;
  savings all;
  const auto add = [&](std::uint64_t saves, const char* option, std::string value, std::string why) {
    all.push_back({saves, {{option, std::move(value)}, std::move(why)}});
  };
  if (from.heap_unit_bytes <= page && from.false_small_ns * 5 >= from.waited_ns && from.false_small_ns != 0)
    add(from.false_small_ns, "heap_views", "16",
        fmt::format("because {} of all waiting is for small allocations of several nodes on one page",
                    percent(from.false_small_ns, from.waited_ns)));
  const bool waits_for_pages =
      from.heap_unit_bytes == page && from.heap_units >= 64 && from.heap_fault_ns * 10 >= from.threads_ns;
  for (const auto& p : from.heap_pieces)
    if (waits_for_pages && p.contended * 20 <= p.used)
      add(from.heap_fault_ns / 2, "unit", fmt::format("{}K", p.bytes >> 10),
          fmt::format("because threads wait {} of their time for pages, and of {} pieces of {} KiB {} have two writers",
                      percent(from.heap_fault_ns, from.threads_ns), p.used, p.bytes >> 10,
                      p.contended == 0 ? "none" : std::to_string(p.contended)));
  if (from.read_ahead_units >= enough && from.read_ahead_wasted * 2 >= from.read_ahead_units)
    add(from.fault_ns / 8, "read_ahead", "0",
        fmt::format("because {} of what was read ahead went away unused",
                    percent(from.read_ahead_wasted, from.read_ahead_units)));
  if (from.exclusive_reads >= enough && from.exclusive_wasted * 2 >= from.exclusive_reads)
    add(from.fault_ns / 8, "learn_writes", "0",
        fmt::format("because {} of the units that were fetched to be written went away unwritten",
                    percent(from.exclusive_wasted, from.exclusive_reads)));
  add_of_stock(from, all);
  std::erase_if(all,
                [&](const auto& one) { return std::ranges::find(closed, one.second.what.option) != closed.end(); });
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<proposal> sorted;
  for (auto& [saves, p] : all) sorted.push_back(std::move(p));
  return sorted;
}

std::vector<setting> next_run(const history& of) {
  std::vector<setting> all;
  for (const trial& t : of.trials)
    if (t.how == trial::end::kept || t.how == trial::end::open) all.push_back(t.what);
  return all;
}

std::string leave_alone(history& of, std::span<const std::string> closed) {
  const auto is_closed = [&](const trial& t) {
    return std::ranges::find(closed, t.what.option) != closed.end() && t.how != trial::end::taken_back;
  };
  const auto kept =
      std::ranges::find_if(of.trials, [&](const trial& t) { return is_closed(t) && t.how == trial::end::kept; });
  if (kept != of.trials.end()) {
    std::string said = fmt::format("{} was kept, and you have set that yourself: it begins anew", text_of(kept->what));
    of = {.job = of.job};
    return said;
  }
  const bool was_open = has_open_trial(of);
  std::erase_if(of.trials, is_closed);
  return was_open && !has_open_trial(of) ? begin_trial(of) : "";
}

bool is_done(const history& of) { return of.base.size() >= runs_each && !has_open_trial(of); }

std::vector<std::string> on_run(history& of, double seconds, const evidence& told,
                                std::span<const std::string> closed) {
  if (of.base.size() < runs_each) {
    of.base.push_back(seconds);
    of.first_seconds = fastest(of.base);
    plan(of, told, closed);
    if (of.base.size() < runs_each)
      return {
          fmt::format("this run took {:.3f} s as the program is; the next one is the same, to know how much times "
                      "differ by themselves",
                      seconds)};
    return {fmt::format("as the program is, runs took {:.3f} s and {:.3f} s", of.base[0], of.base[1]), begin_trial(of)};
  }
  trial* const t = open_trial(of);
  if (t == nullptr) return {fmt::format("this run took {:.3f} s, with what is kept; nothing is left to try", seconds)};
  t->seconds.push_back(seconds);
  std::vector<std::string> said{judge(of, *t)};
  if (t->how == trial::end::kept) plan(of, told, closed);  // `t` is elsewhere now
  if (!has_open_trial(of)) said.push_back(begin_trial(of));
  return said;
}

std::vector<std::string> on_failure(history& of, int exit_status) {
  trial* const t = open_trial(of);
  if (t == nullptr) return {fmt::format("the job has ended with status {}: nothing is learnt from it", exit_status)};
  t->how = trial::end::taken_back;
  return {fmt::format("tried {}: the job has ended with status {}, so it is taken back", text_of(t->what), exit_status),
          begin_trial(of)};
}

std::vector<std::string> on_refused(history& of) {
  trial* const t = open_trial(of);
  if (t == nullptr) return {};
  t->how = trial::end::taken_back;
  return {fmt::format("tried {}: no job can be started so, so it is taken back", text_of(t->what)), begin_trial(of)};
}

double most_seconds(const history& of) {
  constexpr double start = 10;  // a job takes longer than its program
  return has_open_trial(of) ? 2 * hopeless * fastest(of.base) + start : 0;
}

std::vector<std::string> on_slow(history& of, double seconds) {
  trial* const t = open_trial(of);
  if (t == nullptr) return {};
  t->how = trial::end::taken_back;
  return {fmt::format("tried {}: the job was ended after {:.1f} s, against {:.3f} s without it, so it is taken back",
                      text_of(t->what), seconds, fastest(of.base)),
          begin_trial(of)};
}

std::vector<std::string> how_to_write(const history& of, bool stock, const own_words& own) {
  std::vector<std::string> said;
  std::string options;
  bool knows_nodes = false;
  for (const trial& t : of.trials) {
    if (t.how != trial::end::kept) continue;
    knows_nodes = knows_nodes || t.what.option == tuned_nodes;
    for (const std::string& word : words_of(t.what)) options += " " + word;
  }
  if (options.empty()) return said;
  const double now = fastest(of.base);
  said.push_back(fmt::format("what is kept has made {:.3f} s of {:.3f} s: {:.2f} times as fast", now, of.first_seconds,
                             of.first_seconds / now));
  said.push_back(
      fmt::format("to have it without --auto: quire run{}{}{}", options, knows_nodes ? "" : own.nodes, own.rest));
  for (const trial& t : of.trials)
    if (const std::string text = in_program(t.what, stock); t.how == trial::end::kept && !text.empty())
      said.push_back(fmt::format("instead of {}, {}", text_of(t.what), text));
  return said;
}

std::vector<std::string> hints(const evidence& from) {
  std::vector<std::string> said;
  if (from.false_other_ns * 5 >= from.waited_ns && from.false_other_ns != 0)
    said.push_back(
        fmt::format("{} of all waiting is for units of which nodes use different parts, and only the program can end "
                    "it (--report names lines and "
                    "bytes): parts on units of their own, or release consistency ({}) if the program has no races",
                    percent(from.false_other_ns, from.waited_ns),
                    from.stock ? "--memory mixed" : "quire_region_options.consistency"));
  constexpr std::uint64_t many = 1000;
  if (from.double_faults >= many && !from.stock)
    said.push_back(fmt::format(
        "{} times a unit came to be read and was written next: quire_will_write() before saves one of the two faults",
        from.double_faults));
  return said;
}

std::string write(const history& of) {
  std::string text = fmt::format(
      "{}\n# What `quire run --auto` has found out. Without this file it begins anew.\njob {}\nfirst {}\nbase", title,
      of.job, of.first_seconds);
  for (const double s : of.base) text += fmt::format(" {}", s);
  for (const trial& t : of.trials) {
    text += fmt::format("\n{} {} {}", ends[static_cast<std::size_t>(t.how)], t.what.option, t.what.value);
    for (const double s : t.seconds) text += fmt::format(" {}", s);
    text += "\nwhy " + t.why;
  }
  return text + "\n";
}

std::optional<history> read(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != title) return std::nullopt;
  history of;
  const auto take_seconds = [](std::istringstream& words, std::vector<double>& to) {
    for (double s = 0; words >> s;) {
      if (!(s > 0)) return false;
      to.push_back(s);
    }
    return words.eof();
  };
  while (std::getline(lines, line)) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("job ")) {
      of.job = line.substr(4);
      continue;
    }
    if (line.starts_with("why ")) {
      if (of.trials.empty()) return std::nullopt;
      of.trials.back().why = line.substr(4);
      continue;
    }
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "first") {
      if (!(words >> of.first_seconds) || !(of.first_seconds >= 0)) return std::nullopt;
    } else if (what == "base") {
      if (!take_seconds(words, of.base)) return std::nullopt;
    } else if (const auto end = std::ranges::find(ends, what); end != std::end(ends)) {
      trial& t = of.trials.emplace_back();
      t.how = static_cast<trial::end>(end - std::begin(ends));
      if (!(words >> t.what.option >> t.what.value) || !take_seconds(words, t.seconds)) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  // A trial begins when the runs without it are there, and one at a time.
  const auto open = std::ranges::count(of.trials, trial::end::open, &trial::how);
  const bool begun = std::ranges::any_of(of.trials, [](const trial& t) { return t.how != trial::end::planned; });
  if (of.job.empty() || open > 1 || (begun && of.base.size() < runs_each)) return std::nullopt;
  return of;
}

}  // namespace quire::tools::advisor
