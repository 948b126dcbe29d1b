// SPDX-License-Identifier: BSD-3-Clause
#include "predict/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quire::tools::predict {
namespace {

constexpr double least_gain = 0.97;  // as of the advisor: what is not so much faster is no gain

std::string text_of(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The least number of nodes that is nearly as fast as the fastest one.
known_time best_of(std::vector<known_time> all) {
  std::ranges::sort(all, {}, &known_time::nodes);
  known_time best = all.front();
  for (const known_time& one : all)
    if (one.ns < least_gain * best.ns) best = one;
  return best;
}

/// Of which option it is: "--memory", or "unit" of "--set unit=64K".
std::string name_of(const std::vector<std::string>& words) {
  return words.front() == "--set" && words.size() > 1 ? words[1].substr(0, words[1].find('=')) : words.front();
}
bool is_settled(const choice& so_far, const candidate& one) {
  for (std::size_t at = 0; at + 1 < so_far.options.size(); at += 2)
    if (name_of({so_far.options[at], so_far.options[at + 1]}) == name_of(one.words)) return true;
  return false;
}

void try_one(choice& so_far, const candidate& one, const predict_function& predict, const say_function& say) {
  auto options = so_far.options;
  options.insert(options.end(), one.words.begin(), one.words.end());
  const auto ns = predict(so_far.nodes, options);
  const std::string tried =
      fmt::format("tried {} on {} nodes{}: ", text_of(one.words), so_far.nodes, one.why.empty() ? "" : ", " + one.why);
  if (!ns) return say(tried + "the program does not run so, or takes too long");
  const bool gains = *ns < least_gain * so_far.ns, kept = gains && one.only_if.empty();
  say(fmt::format("{}{:.3f} s, against {:.3f} s: {}", tried, *ns / 1e9, so_far.ns / 1e9,
                  kept    ? "kept"
                  : gains ? "not taken, since it is right only if " + one.only_if
                          : "no gain"));
  if (!kept) return;
  so_far.options = std::move(options);
  so_far.ns = *ns;
}

}  // namespace

choice choose(const std::vector<known_time>& known, const std::vector<candidate>& all, const predict_function& predict,
              const say_function& say) {
  const known_time first = best_of(known);
  choice made{first.nodes, {}, first.ns};
  // What options gain shows where nodes exchange something: on as many as are fastest, or on two at least.
  const auto more = std::ranges::find_if(known, [](const known_time& k) { return k.nodes > 1; });
  if (made.nodes == 1 && more != known.end()) made.nodes = more->nodes, made.ns = more->ns;
  for (const candidate& one : all)
    if (!is_settled(made, one)) try_one(made, one, predict, say);
  std::vector<known_time> with_options{{made.nodes, made.ns}};
  for (const known_time& k : known) {
    if (k.nodes == made.nodes) continue;
    if (made.options.empty()) {
      with_options.push_back(k);
    } else if (const auto ns = predict(k.nodes, made.options); ns) {
      say(fmt::format("with {} {:.3f} s on {} nodes", text_of(made.options), *ns / 1e9, k.nodes));
      with_options.push_back({k.nodes, *ns});
    }
  }
  const known_time best = best_of(with_options);
  if (best.nodes == 1) made.options.clear();  // there is nobody to exchange anything with
  made.nodes = best.nodes;
  made.ns = best.ns;
  return made;
}

}  // namespace quire::tools::predict
