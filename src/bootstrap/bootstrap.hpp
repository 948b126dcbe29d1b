// SPDX-License-Identifier: BSD-3-Clause
// Who are my peers: joining a job, exchanging transport addresses, hearing of deaths. One folder a body (local: under
// `quire run`, or alone; pmix: srun --mpi=pmix, Open MPI's mpirun, PRRTE; pmi1: Hydra, srun --mpi=pmi2; rendezvous:
// processes that something else has started). Called by src/api at start and end; `descriptor`, `poll_news`, `accuse`
// and `abort` by the service thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "base/status.hpp"

namespace quire::bootstrap {

/// Something that happened to the job as a whole.
struct news {
  enum class kind { nothing, node_died, job_ends, show_waits, show_counters, leave_wanted } what = kind::nothing;
  int node = -1;  ///< who died
  std::string
      text;  ///< for people: "node 2 (pid 4711) was killed by signal 9 (Killed)"; empty: the launcher has told them
};

class bootstrap {
 public:
  virtual ~bootstrap() = default;
  [[nodiscard]] virtual int node() const noexcept = 0;
  [[nodiscard]] virtual int nodes() const noexcept = 0;
  /// How many nodes of the job run on this host (decides whether waiting threads may spin), and whether that is all.
  [[nodiscard]] virtual int local_nodes() const noexcept = 0;
  /// What the user has given to all nodes of the job to keep strangers out; zero where a launcher does that.
  [[nodiscard]] virtual base::secret known_secret() const noexcept { return {}; }
  /// Gives `mine` to all nodes and gets everyone's, in order of node. Collective; blocks. At most
  /// 60 KiB. PEER_LOST (poll_news tells whom), TIMED_OUT (after a minute), INVALID.
  [[nodiscard]] virtual base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) = 0;
  /// Nothing comes from `node` any more: it was silent for `silent_ms`, or (0) the transport has lost it. True: the
  /// launcher judges, and what it finds comes as news. False: there is nobody who judges. Service thread; does not
  /// block.
  [[nodiscard]] virtual bool accuse(int node, std::uint64_t silent_ms) noexcept = 0;
  /// A node that was accused of silence has been heard again: whoever judges need not. Service thread; does not block.
  virtual void withdraw(int) noexcept {}
  /// This node ends, or does not start, because others are lost: whatever its exit says, it is not the cause. Does not
  /// block.
  virtual void bereaved() noexcept {}
  /// Whether the launcher, when a node dies, can let the others live: all of them hear of it, in one order, and the
  /// dead one runs no more.
  [[nodiscard]] virtual bool announces_deaths() const noexcept { return false; }
  /// For a job that goes on without its dead, where no launcher announces them: from now on the end of the process of
  /// another node is news, in an order of this node's own. False if that cannot be; the same on all nodes. Collective,
  /// at the start, after the first exchange; no exchange follows.
  [[nodiscard]] virtual bool see_deaths() { return false; }
  /// Kills the process of `node`, which does not answer: there is nobody else to do it. After see_deaths(); the end of
  /// the process comes as news. Service thread; does not block.
  virtual void kill(int /*node*/) noexcept {}
  /// This node hears of deaths from now on. Before the service thread starts.
  virtual void ready() noexcept {}
  /// After news show_waits: what this node's threads wait for (src/waits). Service thread; does not block.
  virtual void tell_waits(std::string_view) noexcept {}
  /// After news show_counters: the counters of this node, as a flat JSON object. Service thread; does not block.
  virtual void tell_counters(std::string_view) noexcept {}
  /// After news leave_wanted: what becomes of that, as often as it changes (leave_word.hpp). Service thread; does not
  /// block.
  virtual void tell_leaving(std::string_view) noexcept {}
  /// The record of this node for the report lies in the memory of this descriptor. Who looks after the node puts it
  /// beside `path` ("quire.3.record" becomes "quire.3.memory"), if the node dies before it has written there. At the
  /// start, before the service thread.
  virtual void keep_record(int /*descriptor*/, std::string_view /*path*/) noexcept {}
  /// Whether somebody does that. If not, the node keeps the record in that file itself, from the start.
  [[nodiscard]] virtual bool keeps_records() const noexcept { return false; }
  /// Ends the whole job, as far as the launcher lets a node do that. Service thread; takes half a second at most.
  virtual void abort(int exit_status, const std::string& why) noexcept = 0;
  /// Tells the launcher that this node has ended well: its exit is then no accident. The counters are a flat JSON
  /// object of names and integers, or empty; only `quire run` takes them. After the last poll_news.
  virtual void leave(std::string_view statistics_json) noexcept = 0;
  /// The same of a node that ends while the others go on: they hear of it as of a death. Where announces_deaths().
  virtual void depart(std::string_view statistics_json) noexcept { leave(statistics_json); }
  /// Readable when there may be news; -1 if there never is. Stays readable after job_ends.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// The next piece of news; call it until it gives `nothing`. Does not block.
  [[nodiscard]] virtual news poll_news() noexcept = 0;
};

/// Leaves it to another process to join (pool 'fork': the engine's). Before anybody joins.
void leave_to_another() noexcept;

/// The job that this process belongs to: under a launcher (the environment says so) its job, else a job of one node.
[[nodiscard]] base::result<std::unique_ptr<bootstrap>> join();

}  // namespace quire::bootstrap
