// SPDX-License-Identifier: BSD-3-Clause
// The launching side of a job, on this machine or by agents on others: starts the nodes, serves their control sockets,
// passes signals and output on, ends and sweeps up everything when one dies. Called by `quire run`, in a process with
// one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace quire::bootstrap::launcher {

/// Exit statuses of the launcher's own, as of env(1) and timeout(1).
enum exit_status : int { job_timed_out = 124, launcher_failed = 125, cannot_execute = 126, command_not_found = 127 };

/// Nodes first, first + 1, ... of a job run on the host of this name.
struct host_plan {
  std::string name;
  int first = 0, nodes = 1;
};

struct job_plan {
  int nodes = 1;
  std::vector<host_plan> hosts;      ///< in order, all nodes among them; empty: this machine, without an agent
  std::vector<std::string> reach;    ///< the words that run a command on a host: these, the host's name, the command
  std::string remote_quire;          ///< path of `quire` on the hosts
  std::vector<std::string> command;  ///< program and arguments; at least one
  std::vector<std::pair<std::string, std::string>> environment;  ///< set for the nodes, over what they inherit
  bool tag = false;                                              ///< begin each line of output with "[node] "
  std::int64_t timeout_ms = 0;                                   ///< 0: none
  bool is_trial = false;         ///< nothing is said when its time is over: who started it expects that, and tells it
  int end_with = 0;              ///< a process, with which the job ends; 0: none
  bool survivors_go_on = false;  ///< a death does not end the job: the others are told (QUIRE_ON_FAILURE=notify)
  std::string mount;  ///< absolute directory where nodes show files (QUIRE_MOUNT): nothing dead stays mounted there on
                      ///< any host; empty: none
  int peer_timeout_s = 0;  ///< hosts that are silent for so long are lost (QUIRE_PEER_TIMEOUT of the nodes); 0: never
};

struct job_outcome {
  int exit_status = 0;  ///< 0 if all ended well, else of the node that failed first, or one of the above
  std::vector<std::string> statistics;  ///< by node, what it gave to bootstrap::leave(); empty if it did not
  double seconds = 0;
  bool nobody_joined = false;  ///< all nodes became the program, and none of them has started Quire
};

/// Runs a job to its end. Nothing of it is left when this returns: no process (orphans of the nodes included), no
/// descriptor. What there is to say to people goes to standard error. Not reentrant: it takes over signals and reaping.
[[nodiscard]] job_outcome run_job(const job_plan& plan);

}  // namespace quire::bootstrap::launcher
