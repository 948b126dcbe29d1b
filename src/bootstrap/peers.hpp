// SPDX-License-Identifier: BSD-3-Clause
// Watching the processes of other nodes, as not every launcher tells of their deaths (srun does not, nor does Hydra):
// those on this host by pidfd_open(2), others by lines (lines/lines.hpp). Used by pmix, pmi1 and rendezvous; the
// service thread, or the application's before there is one.
//
// A process that ends well looks the same. It has passed the job's last barrier, and so have we in a moment: a death is
// told only some time after the end of the process, when this node, had all been well, would have left, too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "base/status.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/lines/lines.hpp"
#include "os/process.hpp"

namespace quire::bootstrap {

/// What a node tells the others of its process. Zero: not known.
struct process_identity {
  std::uint64_t machine = 0;        ///< os::machine_place::machine
  std::uint64_t network = 0;        ///< inode of its network namespace: one with its own looks like a host
  std::uint64_t pid_namespace = 0;  ///< inode; numbers of processes mean something within one only
  std::int64_t pid = 0;
  [[nodiscard]] bool sees(const process_identity& other) const noexcept {
    return machine != 0 && machine == other.machine && network == other.network && pid_namespace != 0 &&
           pid_namespace == other.pid_namespace && pid != other.pid;
  }
};
[[nodiscard]] process_identity identity_of_this_process();

class peer_watch {
 public:
  /// How long after the end of a process its death is told.
  static constexpr std::uint64_t grace_ns = 2'000'000'000;

  /// All that it watches goes into `epoll`. SYSTEM.
  [[nodiscard]] base::status open(int epoll);
  /// Watches the process of `node`, once, if it can be seen from here.
  void add(int node, const process_identity& who);
  /// Makes lines with those of all nodes of the job that cannot be seen from here, or that do not see this node.
  /// Collective, after all that can be seen were added. False, on all nodes, if some are not to be reached: the reason
  /// is logged.
  [[nodiscard]] bool reach_others(bootstrap& job);
  /// Kills a process that is watched. Not that of a later process with the same number.
  void kill(int node) noexcept;
  /// Watches this node's parent: for who has taken leave of its launcher. False if the system does not let it.
  [[nodiscard]] bool add_launcher();
  [[nodiscard]] bool launcher_has_ended() const noexcept;
  /// A node whose process ended at least grace_ns ago; -1 if there is none. Each is told once.
  [[nodiscard]] int next_dead();

 private:
  struct peer {
    int node;
    os::descriptor process;  ///< none: there is a line
  };
  struct ended_peer {
    int node;
    std::uint64_t told_from_ns;
  };
  /// A process on another host, which is told to die again until it has.
  struct last_words {
    int node;
    int left;
    std::uint64_t next_ns;
  };
  [[nodiscard]] bool knows(int node) const noexcept;
  [[nodiscard]] bool make_lines(bootstrap& job, const std::vector<int>& nodes);
  /// Whether nothing more is to be learnt of it.
  [[nodiscard]] bool look(const peer& one);
  void note_ended(int node);
  void say_last_words();
  void arm_timer();
  int epoll_ = -1;
  std::vector<peer> watched_;
  std::deque<ended_peer> ended_;
  std::vector<last_words> dying_;
  os::descriptor timer_, launcher_;
  life_lines lines_;
};

}  // namespace quire::bootstrap
