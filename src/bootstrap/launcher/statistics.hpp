// The counters of a job, gathered from the JSON that its nodes gave to bootstrap::leave(). Called after the job.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/launcher/launcher.hpp"

namespace quire::bootstrap::launcher {

struct counter_row {
  std::string name;
  std::vector<std::optional<std::int64_t>> by_node;  ///< nothing where a node has not told it
  std::int64_t total = 0;
};

struct job_statistics {
  std::vector<counter_row> rows;  ///< in the order in which the nodes name them
  int nodes_told = 0;             ///< how many nodes gave any
};

/// What is no integer in a flat object is left out.
[[nodiscard]] job_statistics gather(std::span<const std::string> statistics);

/// {"command": [...], "nodes": n, "exit_status": s, "seconds": t, "total": {...}, "by_node": [{...} or null, ...]}
[[nodiscard]] std::string statistics_json(const job_plan& plan, const job_outcome& outcome);

}  // namespace quire::bootstrap::launcher
