// SPDX-License-Identifier: BSD-3-Clause
#include "predict/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace quire::tools::predict {
namespace {

/// As record::events_head, which has an atomic counter.
struct head {
  std::uint64_t mark, node, nodes, places, taken, rest[11];
};
static_assert(sizeof(head) == sizeof(record::events_head));

bool read_one(const std::string& path, std::uint64_t node, head& about, node_events& to, std::string& why) {
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&about), sizeof about)) {
    why = fmt::format("{} cannot be read: {}", path, std::strerror(errno));
    return false;
  }
  if (about.mark != record::events_head::right_mark || about.node != node || about.nodes == 0 || about.nodes > 1024) {
    why = path + " is no record of this build of Quire";
    return false;
  }
  if (about.taken > about.places || about.places > record::events::most_places) {
    why = fmt::format("{} is full: the program does more than {} things; let it do less work, or use --seconds", path,
                      about.places);
    return false;
  }
  to.all.resize(about.taken);
  const auto bytes = static_cast<std::streamsize>(about.taken * sizeof(record::event));
  if (bytes != 0 && !file.read(reinterpret_cast<char*>(to.all.data()), bytes)) {
    why = path + " ends too early";
    return false;
  }
  for (record::event& e : to.all)
    if (e.type > record::event_type::ends) e.type = record::event_type::none;
  return true;
}

}  // namespace

std::optional<std::vector<node_events>> read_events(const std::string& directory, std::string& why) {
  std::vector<node_events> job(1);
  for (std::uint64_t node = 0; node < job.size(); ++node) {
    head about{};
    node_events one;
    if (!read_one(directory + '/' + record::events_file_name(node), node, about, one, why)) return std::nullopt;
    if (node == 0) job.resize(about.nodes);
    if (about.nodes != job.size()) {
      why = "records of several jobs lie in " + directory;
      return std::nullopt;
    }
    job[node] = std::move(one);
  }
  return job;
}

}  // namespace quire::tools::predict
