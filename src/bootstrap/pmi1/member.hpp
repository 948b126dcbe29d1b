// SPDX-License-Identifier: BSD-3-Clause
// A job whose launcher speaks PMI-1 over an inherited socket: MPICH's Hydra (mpiexec.hydra), Slurm's srun --mpi=pmi2
// (whose plug-in understands both), and others by its simple protocol. Lines of KEY=VALUE words, a request and its
// answer at a time; no library is needed.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/peers.hpp"
#include "os/process.hpp"

namespace quire::bootstrap::pmi1 {

/// Start and end by one application thread, descriptor and poll_news by the service thread in between.
class member final : public bootstrap {
 public:
  member(os::descriptor socket, int node, int nodes, int local_nodes, int limit_ms);
  /// The first words with the launcher. SYSTEM, TIMED_OUT.
  [[nodiscard]] base::status open();

  [[nodiscard]] int node() const noexcept override { return node_; }
  [[nodiscard]] int nodes() const noexcept override { return nodes_; }
  [[nodiscard]] int local_nodes() const noexcept override { return local_nodes_; }
  [[nodiscard]] base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override;
  [[nodiscard]] bool accuse(int, std::uint64_t) noexcept override { return false; }
  [[nodiscard]] bool see_deaths() override;
  void kill(int node) noexcept override { peers_.kill(node); }
  void abort(int exit_status, const std::string& why) noexcept override;
  void leave(std::string_view statistics_json) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return epoll_.number(); }
  [[nodiscard]] news poll_news() noexcept override;

 private:
  /// Sends a line and reads its answer, which must begin with cmd=`answer`. SYSTEM (refused), PEER_LOST (the launcher
  /// is gone), TIMED_OUT.
  [[nodiscard]] base::result<std::string> ask(const std::string& line, std::string_view answer);
  [[nodiscard]] base::status write_line(const std::string& line);
  [[nodiscard]] base::result<std::string> read_line();
  [[nodiscard]] base::status put(std::span<const std::byte> mine);
  [[nodiscard]] base::result<std::vector<std::byte>> get(int node);
  [[nodiscard]] base::status meet();

  [[nodiscard]] base::status open_news();

  os::descriptor socket_, epoll_{};
  peer_watch peers_{};
  std::vector<process_identity> processes_{};  ///< of all nodes
  int node_, nodes_, local_nodes_, limit_ms_, round_ = 0;
  std::uint64_t deadline_ns_ = 0;
  std::string space_;            ///< the name of the job's key-value space
  std::size_t value_bytes_ = 0;  ///< the longest value that it takes
  std::string received_;
  bool ended_ = false;  ///< the launcher is gone, and poll_news has told it
  bool left_ = false;
};

/// The job that the environment (PMI_FD, PMI_RANK, PMI_SIZE, which it clears) tells of. NOT_FOUND without it; SYSTEM,
/// TIMED_OUT; the reason is logged.
[[nodiscard]] base::result<std::unique_ptr<bootstrap>> join_launched();
/// Closes its socket and clears the environment: another process joins.
void forget_launched() noexcept;

}  // namespace quire::bootstrap::pmi1
