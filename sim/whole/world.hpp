// SPDX-License-Identifier: BSD-3-Clause
// A whole job in one thread of the system: nodes, the network between them, and the threads of a program on all of
// them. What happens when follows from a seed.
//
//   whole::world w({.net = {.seed = seed, .nodes = 3}});
//   w.add_region({.id = 1, .base = ..., .bytes = ..., .consistency = QUIRE_RELEASE});
//   w.start(0, [&](whole::node& here) { here.store(a, 1); ... });
//   EXPECT_EQ(w.run(), "");
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/network.hpp"
#include "sim/whole/fibre.hpp"
#include "sim/whole/node.hpp"

namespace quire::whole {

inline constexpr std::uint64_t base_address = 0x300000000000, range_bytes = std::uint64_t{64} << 20;
/// Numbers and granules of regions that come and go begin here.
inline constexpr std::uint16_t first_kept = 8;

struct world_options {
  sim::network_options net{};
  core::configuration node{};         ///< self, nodes and addresses are filled in
  sim::time_ns think = 3'000;         ///< a thread does nothing for up to so long between two accesses, now and then
  sim::time_ns wake = 5'000;          ///< and is up to so late when it is woken
  sim::time_ns drive = 2'000;         ///< so late is a node that has to look what has come
  unsigned limited_percent = 100;     ///< nodes that have the memory limit of `node`, if it has one
  sim::time_ns store_delay = 20'000;  ///< reading and writing for a store takes up to so long
  unsigned store_fails_percent = 0;   ///< writes that fail
  unsigned syncs_fail_percent = 0;    ///< store::sync() of stores that keep regions
  unsigned fills_fail_percent = 0;    ///< reads that fail, of stores that keep regions
  unsigned queued_percent = 30;       ///< operations that wait for another thread to drive
  unsigned intruding_percent = 0;  ///< accesses that may come between two actions of a step, where the word is mapped
  unsigned unmapped_permille =
      0;  ///< accesses before which the kernel has unmapped a page of the region (detectors that do not scan)
};

/// What accesses of programs have cost.
struct access_counts {
  std::uint64_t accesses = 0, faults = 0;
  std::uint64_t most_faults = 0;  ///< of one access
  sim::time_ns longest_wait = 0;  ///< from the first of them to the access
};

class world {
 public:
  using program = std::function<void(node&)>;
  explicit world(const world_options& options);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  [[nodiscard]] unsigned nodes() const noexcept { return static_cast<unsigned>(nodes_.size()); }
  [[nodiscard]] node& at(unsigned n) noexcept { return *nodes_[n]; }
  [[nodiscard]] sim::network& net() noexcept { return net_; }
  [[nodiscard]] const world_options& options() const noexcept { return options_; }
  /// On all nodes.
  void add_region(core::region_description about);
  [[nodiscard]] const std::vector<std::uint16_t>& regions() const noexcept { return regions_; }
  /// A region that a program has made is looked at as well, until it is to go: then nobody uses it, and what was
  /// written there is forgotten.
  void watch_region(std::uint16_t id) { regions_.push_back(id); }
  void leave_region(const core::region_description& about);
  /// A thread of node `n` runs it, from a moment on that chance decides.
  void start(unsigned n, program what);
  /// From now on nothing of node `n` happens. All others hear of it from the launcher within `late`.
  void kill(unsigned n, sim::time_ns late);
  /// Node `n`, which was not there at the start (configuration::founders), is there from now on, and has heard of all
  /// that are gone; it is to join.
  void come(unsigned n);
  /// Until all threads have ended and nothing happens any more. What is wrong, with the last events; empty if all is
  /// well.
  [[nodiscard]] std::string run();
  /// From anywhere: something is wrong. The first one is told.
  void fail(const std::string& what);
  [[nodiscard]] bool failed() const noexcept { return !failure_.empty(); }

  // Of nodes and their fibres.
  /// What the nodes of its host have at an address; made for the first, and again when all have left it.
  [[nodiscard]] std::shared_ptr<host_memory> host_memory_of(node_id node, std::uint64_t address, std::uint64_t bytes);
  /// Two nodes have frames together.
  [[nodiscard]] bool are_together(unsigned a, unsigned b) const noexcept {
    return !options_.node.hosts.empty() && options_.node.hosts[a] == options_.node.hosts[b];
  }
  /// The running thread does nothing for so long.
  void sleep(sim::time_ns ns);
  /// The running thread waits until `o` is done, or the time has come. True if it is done.
  [[nodiscard]] bool wait(core::op& o, sim::time_ns until);
  /// Something has happened at a node: what must hold does, and who waits there for what is done now goes on soon.
  void after_turn(node& of);

  /// After each turn of a node, before it is checked: tests spoil its state here, to see it noticed.
  void on_turn(std::function<void(node&)> spoil) { spoil_ = std::move(spoil); }

  [[nodiscard]] const access_counts& accesses() const noexcept { return accesses_; }
  void count_access(std::uint64_t faults, sim::time_ns waited) noexcept;

  /// A value that no thread has written yet.
  [[nodiscard]] std::uint64_t unique() noexcept { return ++last_; }
  /// A word of shared memory, for people.
  [[nodiscard]] std::string name_of(std::uint64_t address) const;
  /// What was written last to a word, by any thread.
  void wrote(std::uint64_t address, std::uint64_t value, node_id by) {
    latest_[address] = value;
    writer_[address] = by;
  }
  /// Which node did, of a word that was written.
  [[nodiscard]] node_id writer_of(std::uint64_t address) const { return writer_.at(address); }
  /// Nobody knows what a word holds from now on.
  void forget(std::uint64_t address) {
    latest_.erase(address);
    unknown_.insert(address);
  }
  [[nodiscard]] bool is_unknown(std::uint64_t address) const noexcept { return unknown_.contains(address); }
  [[nodiscard]] std::uint64_t latest(std::uint64_t address) const noexcept {
    const auto found = latest_.find(address);
    return found == latest_.end() ? 0 : found->second;
  }
  [[nodiscard]] const std::unordered_map<std::uint64_t, std::uint64_t>& all_written() const noexcept { return latest_; }

 private:
  struct thread {
    std::unique_ptr<fibre> runs{};
    node* at = nullptr;
    core::op* waits_for = nullptr;
    bool resumes = false;    ///< an event of its own will go on with it
    std::uint64_t turn = 0;  ///< counts its waits
  };
  void look_at_waiting(const node& of);
  void check(node& n);
  void resume(thread& t);
  void resume_after(thread& t, sim::time_ns ns);

  world_options options_;
  sim::network net_;
  std::vector<std::unique_ptr<node>> nodes_{};
  std::map<std::pair<unsigned, std::uint64_t>, std::weak_ptr<host_memory>> hosts_{};
  std::map<unsigned, std::vector<std::uint64_t>>
      holds_{};  ///< of each host, by its first node: pool::host_holds' table
  std::vector<std::uint16_t> regions_{};
  std::vector<std::unique_ptr<thread>> threads_{};
  std::unordered_map<const node*, std::vector<thread*>> threads_of_{};  ///< in the same order
  thread* running_ = nullptr;
  std::unordered_map<std::uint64_t, std::uint64_t> latest_{};
  std::unordered_map<std::uint64_t, node_id> writer_{};
  std::unordered_set<std::uint64_t> unknown_{};
  std::vector<unsigned> killed_{};
  std::uint64_t last_ = 0, next_checked_ = 0;
  std::function<void(node&)> spoil_{};
  access_counts accesses_{};
  std::string failure_{};
};

}  // namespace quire::whole
