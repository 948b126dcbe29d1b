// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/token/write_sets.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace quire::transaction::token {

void add(written_runs& to, const written_unit& w, std::uint32_t life) {
  const bool joins = !to.empty() && to.back().region == w.region.value() &&
                     to.back().first + to.back().count == w.unit &&
                     to.back().count != std::numeric_limits<std::uint32_t>::max();
  if (joins) {
    ++to.back().count;
    return;
  }
  written_run& r = to.emplace_back();
  r.first = w.unit;
  r.count = 1;
  r.life = life;
  r.region = w.region.value();
}

bool write_sets::on_part(const model::message& m, std::span<const std::byte> value, commit_number applied) {
  if (value.empty() || value.size() % sizeof(written_run) != 0 || m.a <= applied) return false;
  auto found = std::ranges::find(all_, m.a, &write_set::number);
  if (found == all_.end()) {
    all_.emplace_back();
    found = all_.end() - 1;
    found->number = m.a;
    found->by = m.from;
  }
  if (found->whole || found->by != m.from) return false;
  const std::size_t count = value.size() / sizeof(written_run), before = found->runs.size();
  found->runs.resize(before + count);
  std::memcpy(found->runs.data() + before, value.data(), value.size());
  found->whole = m.b != 0;
  return std::all_of(found->runs.begin() + static_cast<std::ptrdiff_t>(before), found->runs.end(),
                     [](const written_run& r) { return r.count != 0; });
}

bool write_sets::take(commit_number number, write_set& to) {
  const auto found = std::ranges::find(all_, number, &write_set::number);
  if (found == all_.end() || !found->whole) return false;
  to = std::move(*found);
  all_.erase(found);
  return true;
}

}  // namespace quire::transaction::token
