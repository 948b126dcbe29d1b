// SPDX-License-Identifier: BSD-3-Clause
// What jobs that were killed have left here, for `quire info`.
#include "facts.hpp"
#include "left_over.hpp"

namespace quire::tools {

fact_group left_over_facts(const base::option_values& options) {
  const auto found = find_left_over(options);
  fact_group group{"Left by jobs that were killed (quire clean ends it)", "left_over", {}};
  const auto add = [&](const char* name, const auto& all, auto&& text_of_one) {
    std::string text;
    nlohmann::ordered_json value = nlohmann::ordered_json::array();
    for (const auto& one : all) {
      const std::string words = text_of_one(one);
      text += (text.empty() ? "" : "; ") + words;
      value.push_back(words);
    }
    group.facts.push_back({name, text.empty() ? "none" : text, name, value});
  };
  const auto text = [](const auto& one) { return text_of(one); };
  add("processes", found.processes, text);
  add("mounts", found.mounts, text);
  add("segments", found.segments, text);
  add("files", found.files, [](const std::string& path) { return path; });
  return group;
}

}  // namespace quire::tools
