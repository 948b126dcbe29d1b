// SPDX-License-Identifier: BSD-3-Clause
// Starting the processes of a job. Called by the job's start, in a process with one thread.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "os/process.hpp"

namespace quire::bootstrap::launcher {

/// How one node is to be started. Descriptors of -1 are inherited.
struct start_of_node {
  int node = 0, nodes = 1, local_nodes = 1;
  int control = -1;                    ///< its end of the control socket
  int input = -1, out = -1, err = -1;  ///< become 0, 1, 2
  bool own_group = true;               ///< a process group of its own
};

/// What is the same for all nodes.
struct start_of_job {
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< NAME=value
  sigset_t signals;                      ///< mask to run under
  rlimit descriptors;                    ///< RLIMIT_NOFILE to run under
  int report = -1;                       ///< writing end of the pipe for start_failure, closed by a successful exec
};

/// Written to `report` by a child that could not become its program.
struct start_failure {
  int node, error;
};

/// Forks a helper of the launcher's own (ssh): `streams` becomes its standard input and output, it is killed with its
/// parent and not reached by the terminal's signals. The pid, or SYSTEM with errno; start_failure as for a node.
[[nodiscard]] base::result<pid_t> start_helper(const start_of_job& job, const std::vector<std::string>& command,
                                               int streams);

/// The environment of the launcher with `settings` on top, without what tells a node its place and its launcher.
[[nodiscard]] std::vector<std::string> environment_with(std::span<const std::pair<std::string, std::string>> settings);

/// Forks and lets the child become the node: killed with its parent, without address randomisation (so that functions
/// and virtual tables lie at the same addresses on all nodes). The pid, or SYSTEM with errno.
[[nodiscard]] base::result<pid_t> start_node(const start_of_job& job, const start_of_node& node);

}  // namespace quire::bootstrap::launcher
