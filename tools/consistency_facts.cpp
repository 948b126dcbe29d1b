// SPDX-License-Identifier: BSD-3-Clause
// Which consistencies regions may have, and what goes with each, for `quire info`: the table of protocols.
#include <vector>

#include "facts.hpp"
#include "protocol/table/table.hpp"

namespace quire::tools {

fact_group consistency_facts() {
  fact_group group{"Consistencies of regions, and what goes with each", "consistencies", {}};
  std::vector<const protocol::row*> rows(protocol::built_in().begin(), protocol::built_in().end());
  rows.push_back(protocol::with_token().back());  // in place of the last one, under QUIRE_COMMIT=token
  for (const protocol::row* const row : rows) {
    std::string text;
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const protocol::ability& a : protocol::named_abilities) {
      if (!(row->can.*a.flag)) continue;
      if (!text.empty()) text += "; ";
      text += a.name;
      names.push_back(a.name);
    }
    group.facts.push_back({row->name, text, row->name, names});
  }
  return group;
}

}  // namespace quire::tools
