// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/statistics.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quire::bootstrap::launcher {

using json = nlohmann::ordered_json;

namespace {

std::uint64_t number(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_number_integer() ? found->get<std::uint64_t>() : 0;
}

std::string text(const json& from, const char* name) {
  const json found = from.value(name, json());
  return found.is_string() ? found.get<std::string>() : std::string();
}

/// The entry of the same address, which has counted what `told` says.
template <class Entry>
Entry* add(std::vector<Entry>& all, const json& told) {
  if (!told.is_object()) return nullptr;
  const std::uint64_t address = number(told, "address");
  auto at = std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.address == address; });
  if (at == all.end()) {
    at = all.insert(all.end(), Entry{});
    at->address = address;
    at->region = static_cast<int>(number(told, "region"));
  }
  at->faults += number(told, "faults");
  at->writes += number(told, "writes");
  at->ns += number(told, "ns");
  at->nodes += number(told, "faults") != 0 ? 1 : 0;
  at->writers += number(told, "writes") != 0 ? 1 : 0;
  if (const json data = told.value("data", json()); data.is_string()) at->data = data.get<std::string>();
  return &*at;
}

void add_places(job_statistics& all, const json& told) {
  for (const json& one : told.value("regions", json::array())) {
    waited_region* const r = add(all.regions, one);
    if (r == nullptr) continue;
    r->bytes = number(one, "bytes");
    r->unit_bytes = number(one, "unit_bytes");
    r->release = one.value("release", json(false)) == true;
  }
  for (const json& one : told.value("units", json::array())) {
    waited_unit* const u = add(all.units, one);
    if (u == nullptr) continue;
    u->blocks += number(one, "blocks");
    u->block_bytes += number(one, "block_bytes");
    if (!u->calls.empty()) continue;
    for (const json& call : one.value("calls", json::array()))
      if (call.is_string()) u->calls.push_back(call.get<std::string>());
  }
}

std::uint64_t number_at(const json& list, std::size_t at) {
  return at < list.size() && list[at].is_number_integer() ? list[at].get<std::uint64_t>() : 0;
}

/// [[3, 17], ...]
template <class Counts>
void add_counts(Counts& to, const json& told) {
  for (const json& one : told) {
    const std::uint64_t at = number_at(one, 0);
    if (one.is_array() && at < to.size()) to[at] += number_at(one, 1);
  }
}

/// What a node tells of the parts of units that it used.
void add_shared(job_statistics& all, int node, const json& told) {
  for (const json& one : told) {
    if (!one.is_object()) continue;
    const std::uint64_t address = number(one, "address");
    auto at = std::ranges::find(all.shared, address, &sharing::unit_use::address);
    if (at == all.shared.end()) {
      const std::uint64_t bytes = std::max<std::uint64_t>(number(one, "bytes"), 1);
      at = all.shared.insert(at, sharing::unit_use{static_cast<int>(number(one, "region")), address, bytes});
    }
    at->release = one.value("release", json(false)) == true;
    sharing::node_use& use = at->nodes.emplace_back();
    use.node = node;
    use.moves = number(one, "moves");
    use.ns = number(one, "ns");
    add_counts(use.reads, one.value("reads", json::array()));
    add_counts(use.writes, one.value("writes", json::array()));
    for (const json& object : one.value("objects", json::array())) {
      const std::uint64_t first = number_at(object, 0);
      const bool known = std::ranges::find(at->objects, first, &sharing::object::address) != at->objects.end();
      if (!known) at->objects.push_back({first, number_at(object, 1)});
    }
    if (const json data = one.value("data", json()); data.is_string()) at->data = data.get<std::string>();
    if (!at->calls.empty()) continue;
    for (const json& call : one.value("calls", json::array()))
      if (call.is_string()) at->calls.push_back(call.get<std::string>());
  }
}

template <class Counts>
json counts_of(const Counts& counts) {
  json all = json::object();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0) all[std::to_string(i)] = counts[i];
  return all;
}

json as_json(const sharing::unit_use& u) {
  constexpr const char* kinds[] = {"none", "false", "true", "both"};
  const sharing::verdict v = sharing::judge(u);
  json nodes = json::array(), objects = json::array(), shared = json::array();
  for (const auto& n : u.nodes)
    nodes.push_back({{"node", n.node},
                     {"moves", n.moves},
                     {"ns", n.ns},
                     {"reads", counts_of(n.reads)},
                     {"writes", counts_of(n.writes)}});
  for (const auto& o : u.objects) objects.push_back({{"address", o.address}, {"bytes", o.bytes}});
  for (unsigned line = 0; line < sharing::lines; ++line)
    if (v.shared[line]) shared.push_back(line);
  json all = {{"region", u.region},
              {"address", u.address},
              {"bytes", u.bytes},
              {"release", u.release},
              {"kind", kinds[static_cast<std::size_t>(v.kind)]},
              {"switches", v.switches},
              {"ns", v.ns},
              {"line_bytes", sharing::line_bytes(u.bytes)},
              {"word_bytes", sharing::word_bytes(u.bytes)},
              {"shared", shared},
              {"nodes", nodes},
              {"objects", objects},
              {"calls", u.calls}};
  if (!u.data.empty()) all["data"] = u.data;
  if (v.kind != sharing::sharing_kind::none) all["advice"] = sharing::advice(u, v);
  return all;
}

json as_json(const waited_for& w) {
  json all = {{"region", w.region}, {"address", w.address}, {"faults", w.faults},  {"writes", w.writes},
              {"ns", w.ns},         {"nodes", w.nodes},     {"writers", w.writers}};
  if (!w.data.empty()) all["data"] = w.data;
  return all;
}

}  // namespace

job_statistics gather(std::span<const std::string> statistics) {
  job_statistics all;
  for (std::size_t node = 0; node < statistics.size(); ++node) {
    const json told = json::parse(statistics[node], nullptr, false);
    if (!told.is_object()) continue;
    ++all.nodes_told;
    add_places(all, told);
    if (all.transport.empty()) {
      all.transport = text(told, "transport");
      all.transport_why = text(told, "transport_why");
    }
    if (const auto shared = told.find("sharing"); shared != told.end() && shared->is_array()) {
      ++all.sharing_told;
      add_shared(all, static_cast<int>(node), *shared);
    }
    for (const auto& item : told.items()) {
      const std::string& name = item.key();
      const json& value = item.value();
      if (!value.is_number_integer()) continue;
      auto row = std::find_if(all.rows.begin(), all.rows.end(), [&](const counter_row& r) { return r.name == name; });
      if (row == all.rows.end())
        row = all.rows.insert(row, {name, std::vector<std::optional<std::int64_t>>(statistics.size()), 0});
      row->by_node[node] = value.get<std::int64_t>();
      row->total += value.get<std::int64_t>();
    }
  }
  const auto longer = [](const waited_for& a, const waited_for& b) {
    return a.ns != b.ns ? a.ns > b.ns : a.faults > b.faults;
  };
  std::stable_sort(all.regions.begin(), all.regions.end(), longer);
  std::stable_sort(all.units.begin(), all.units.end(), longer);
  const auto waited = [](const sharing::unit_use& u) {
    std::uint64_t ns = 0, moves = 0;
    for (const auto& n : u.nodes) ns += n.ns, moves += n.moves;
    return std::pair(ns, moves);
  };
  std::stable_sort(all.shared.begin(), all.shared.end(),
                   [&](const auto& a, const auto& b) { return waited(a) > waited(b); });
  return all;
}

std::string statistics_json(const job_plan& plan, const job_outcome& outcome) {
  const job_statistics all = gather(outcome.statistics);
  json total = json::object();
  json by_node = json::array();
  for (int node = 0; node < plan.nodes; ++node) by_node.push_back(nullptr);
  for (const auto& row : all.rows) {
    total[row.name] = row.total;
    for (std::size_t node = 0; node < row.by_node.size(); ++node)
      if (row.by_node[node]) by_node[node][row.name] = *row.by_node[node];
  }
  json regions = json::array(), units = json::array();
  for (const auto& r : all.regions) {
    json& one = regions.emplace_back(as_json(r));
    one.update({{"bytes", r.bytes}, {"unit_bytes", r.unit_bytes}, {"release", r.release}});
  }
  for (const auto& u : all.units) {
    json& one = units.emplace_back(as_json(u));
    one.update({{"blocks", u.blocks}, {"block_bytes", u.block_bytes}, {"calls", u.calls}});
  }
  json document = {{"command", plan.command},    {"nodes", plan.nodes}, {"exit_status", outcome.exit_status},
                   {"seconds", outcome.seconds}, {"total", total},      {"by_node", by_node},
                   {"regions", regions},         {"units", units}};
  if (!all.transport.empty()) document["transport"] = {{"kind", all.transport}, {"why", all.transport_why}};
  if (all.sharing_told != 0) {
    json& shared = document["sharing"] = json::array();
    for (const auto& u : all.shared) shared.push_back(as_json(u));
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace quire::bootstrap::launcher
