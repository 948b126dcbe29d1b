// SPDX-License-Identifier: BSD-3-Clause
// Lines between nodes of different hosts: TCP connections over which nothing is said. When a process ends, its kernel
// ends its lines; so each node sees the deaths of processes that it cannot watch itself, and that no launcher tells of.
// What only cannot be reached is not dead. Used by peers.hpp.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "base/status.hpp"
#include "bootstrap/lines/kill_switch.hpp"
#include "os/process.hpp"

namespace quire::bootstrap {

class life_lines {
 public:
  life_lines() = default;
  life_lines(const life_lines&) = delete;
  life_lines& operator=(const life_lines&) = delete;
  ~life_lines();

  /// Listens. `secret` is the job's, `self` this node. SYSTEM, with a sentence in `why`.
  [[nodiscard]] base::status open(int self, const base::secret& secret, std::string& why);
  /// What the others need to reach this node.
  [[nodiscard]] std::vector<std::byte> address() const;
  /// Lines with `nodes`, which call this at the same time for this node; `addresses`: of all nodes of the job. Who has
  /// the lower number listens. TIMED_OUT, INVALID, with a sentence in `why`.
  [[nodiscard]] base::status reach(std::span<const int> nodes, std::span<const std::vector<std::byte>> addresses,
                                   std::string& why);
  /// Readable when state_of() may have changed; -1: there is no line with `node`.
  [[nodiscard]] int descriptor(int node) const noexcept;
  enum class state { whole, ended, cut_off };
  /// ended: the process is dead. cut_off: its host cannot be reached, and nobody here knows.
  [[nodiscard]] state state_of(int node) const noexcept;
  /// Asks the kernel of its host to kill `node`. May have to be said again. False: that host cannot do it.
  bool kill(int node) const noexcept;
  /// Nothing more is to be known of `node`.
  void drop(int node) noexcept;

 private:
  struct line {
    int node;
    os::descriptor socket;
    sockaddr_in host;
    std::uint16_t kill_port;
  };
  enum class use : std::uint64_t { kills = 1, meets = 3 };
  /// 128 bits that only the job knows, of `node`.
  [[nodiscard]] base::secret word_of(int node, use what) const noexcept;
  [[nodiscard]] bool call(int node, std::span<const std::byte> address, std::uint64_t deadline_ns, std::string& why);
  void answer_one(std::span<const int> nodes, std::span<const std::vector<std::byte>> addresses,
                  std::uint64_t deadline_ns);
  void keep(int node, os::descriptor socket, std::span<const std::byte> address);
  [[nodiscard]] const line* find(int node) const noexcept;
  static void close_in_child() noexcept;

  int self_ = 0;
  base::secret secret_{};
  os::descriptor listener_;
  std::uint16_t port_ = 0;
  kill_switch switch_;
  std::vector<line> lines_;
};

}  // namespace quire::bootstrap
