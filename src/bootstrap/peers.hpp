// SPDX-License-Identifier: BSD-3-Clause
// Watching the processes of other nodes on this host, as not every launcher tells of their deaths (srun does not, nor
// does Hydra). Used by pmix and pmi1; the service thread, or the application's before there is one.
//
// A process that ends well looks the same. It has passed the job's last barrier, and so have we in a moment: a death is
// told only some time after the end of the process, when this node, had all been well, would have left, too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "base/status.hpp"
#include "os/process.hpp"

namespace quire::bootstrap {

/// What a node tells the others of its process.
struct process_identity {
  std::uint64_t pid_namespace = 0;  ///< inode; numbers of processes mean something within one only
  std::int64_t pid = 0;
};
[[nodiscard]] process_identity identity_of_this_process();

class peer_watch {
 public:
  /// How long after the end of a process its death is told.
  static constexpr std::uint64_t grace_ns = 2'000'000'000;

  /// Its descriptor goes into `epoll`. SYSTEM.
  [[nodiscard]] base::status open(int epoll);
  /// Watches the process of `node`; if it cannot be seen from here, sees_all() is false from now on.
  void add(int epoll, int node, const process_identity& who);
  [[nodiscard]] bool sees_all() const noexcept { return !unseen_; }
  /// Kills a process that is watched. Not that of a later process with the same number.
  void kill(int node) noexcept;
  /// Watches this node's parent: for who has taken leave of its launcher. False if the system does not let it.
  [[nodiscard]] bool add_launcher(int epoll);
  [[nodiscard]] bool launcher_has_ended() const noexcept;
  /// A node whose process ended at least grace_ns ago; -1 if there is none. Each is told once.
  [[nodiscard]] int next_dead();

 private:
  struct peer {
    int node;
    os::descriptor process;
  };
  struct ended_peer {
    int node;
    std::uint64_t told_from_ns;
  };
  void note_ended(int node);
  void arm_timer();
  std::vector<peer> watched_;
  std::deque<ended_peer> ended_;
  os::descriptor timer_, launcher_;
  bool unseen_ = false;
};

}  // namespace quire::bootstrap
