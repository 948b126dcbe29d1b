// SPDX-License-Identifier: BSD-3-Clause
// Those who look at a running job (`quire top`), or want a node of it to leave (`quire leave`): a socket without a
// place in the file system, so that nothing is left of it whatever happens, and one channel a viewer. Only the job's
// own user and root may. Costs nothing while nobody does. The launcher's thread; find_jobs() and look_at() are those of
// the commands.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/local/channel.hpp"

namespace quire::bootstrap::launcher {

class viewers {
 public:
  /// From now on this process can be found. Without it (no descriptors left) nobody can look, and the job runs all the
  /// same.
  void listen();
  void watch(const std::function<void(int, short, std::function<void()>)>& watch);
  [[nodiscard]] bool any() const noexcept { return !all_.empty(); }
  /// Whether somebody has come since this was asked last.
  [[nodiscard]] bool take_arrival() noexcept { return std::exchange(arrived_, false); }
  /// A frame `counters` for each that wants no node to leave; who has not taken the one before misses it.
  void show(const std::string& payload);
  /// The nodes that somebody wants to leave, as they were named, since this was asked last.
  [[nodiscard]] std::vector<int> take_wishes();
  /// For each who wants that node to leave. `more_follows`: who has not taken the frame before misses it.
  void tell(int node, const std::shared_ptr<const std::string>& frame, bool more_follows = false);
  /// A frame `job_ends` for each, for as long as a moment; nobody can look any more.
  void end(const std::string& text);

 private:
  struct viewer {
    local::channel link;
    std::optional<int> wish{};  ///< the node that it wants to leave; it looks otherwise
    bool is_new = false;        ///< nobody has taken the wish
  };
  void accept();
  void on_viewer(viewer& one);
  void on_wish(viewer& one, const local::frame& frame);

  os::descriptor listener_;
  std::list<viewer> all_;
  bool arrived_ = false;
};

/// What is shown, packed as `counters`: the first of these words is the version of frames, then come all of a view,
/// then of each node.
struct job_view {
  struct node {
    std::string host, state;  ///< `host`: empty is that of the launcher
    std::string counters;     ///< a flat JSON object (drive/counters.cpp); empty: not known
  };
  std::string command;
  double seconds = 0;  ///< since the job began
  std::vector<node> nodes;
};
[[nodiscard]] std::string pack(const job_view& view);
/// Nothing if `packed` is no such view, or of another version.
[[nodiscard]] std::optional<job_view> unpack_view(std::string_view packed);

/// A job that can be looked at, as far as its socket says.
struct found_job {
  pid_t pid = -1;  ///< of its `quire run`
  uid_t user = 0;
};
/// All of this machine, of any user, in the order of their pids.
[[nodiscard]] std::vector<found_job> find_jobs();
/// A channel to a job. What is wrong is a sentence in `why`, and there is no channel.
[[nodiscard]] std::optional<local::channel> look_at(const found_job& job, std::string& why);

}  // namespace quire::bootstrap::launcher
