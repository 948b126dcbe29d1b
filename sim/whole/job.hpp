// SPDX-License-Identifier: BSD-3-Clause
// A random program on a whole job, and how it must come out. Its threads do all that a program can ask of Quire, at
// moments that chance decides:
//
//   free     words of a region with sequential consistency, which anybody reads and writes: each read finds what was
//            written last
//   locked   words that belong to mutexes, rwlocks and semaphores, those of different locks beside each other; the
//            region's consistency changes
//   pinned   words that are used by who has pinned their page
//   counted  words that are only added to, atomically
//   phased   words that have another owner in each phase, between barriers; phases may be parallel blocks, or produced,
//            or one node's alone
//   handed   words that groups of threads hand on by conditions, events, semaphores, flags and rwlocks (groups.hpp)
//   raced    words that are read and written without synchronisation (races.hpp)
//   turned   words that threads hand on by plain flags, in some programs (turns.hpp)
//   others   regions that threads make and destroy (comings.hpp)
//
// Beside that hints, read-ahead, pushes, collectives, checkpoints' holds, frames and twins that are few, pages that the
// kernel unmaps, and content that is kept on two nodes. At the end all nodes find in all words what was written last.
//
// job.cpp: the plan of a seed, and the life of a thread. job_steps.cpp: its steps. job_meetings.cpp: calls in which all
// nodes take part.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/kept_run.hpp"
#include "sim/whole/actor.hpp"
#include "sim/whole/comings.hpp"
#include "sim/whole/groups.hpp"
#include "sim/whole/races.hpp"
#include "sim/whole/turns.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {

/// What a thread does more often than chance alone has it, in percent of its steps.
struct job_bias {
  unsigned pins = 0, phased = 0, races = 0, pushes = 0, comings = 0;
};

struct job_options {
  std::uint64_t seed = 1;
  unsigned nodes = 2;
  unsigned most_threads = 3;                 ///< of a node
  unsigned least_pages = 1, most_pages = 6;  ///< of a region
  unsigned most_phases = 4;
  unsigned most_steps = 40;  ///< of a thread in a phase
  unsigned most_groups = 4;
  unsigned most_comings = 3;  ///< regions that a phase makes; nobody uses them in the one after
  bool blocks = false;        ///< all phases are parallel blocks that are checked
  bool rotates = false;  ///< in every second phase one node alone writes what is phased or raced; barriers of the job
                         ///< between phases
  bool plans = false;    ///< nodes are told of phases, of which every second one has the same plan
  bool races_only = false;          ///< nothing but races and barriers: what keeps them in order is not disturbed
  bool flags_only = false;          ///< all groups set flags or spin
  bool turns = false;               ///< flags of a region that orders
  unsigned short_percent = 30;      ///< runs whose nodes are short of memory
  unsigned few_twins_percent = 30;  ///< runs whose nodes have room for a few twins only
  unsigned replicas_percent = 10;   ///< runs with content on two nodes: sequential consistency only
  unsigned scans_percent = 30;      ///< runs with regions where writes are found by scans
  unsigned host_nodes = 0;          ///< so many nodes are on each host, and have its frames; 0: each has its own
  bool reorders = false;            ///< messages between two nodes overtake one another, as no transport has it
  bool intrudes = true;             ///< in half of the runs some accesses come between two actions of a step
  std::uint64_t step_limit =
      sim::network_options{}.step_limit;  ///< events; beyond that something goes round in circles
  job_bias often{};
};

class job {
 public:
  explicit job(const job_options& options);
  ~job();
  /// What is wrong, or an empty text.
  [[nodiscard]] std::string run();
  [[nodiscard]] world& nodes() noexcept { return world_; }
  /// What has been done, by name: for tests that want to have seen it.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& done() const noexcept { return done_; }

 private:
  enum region_number : unsigned {
    free_words,
    locked,
    pinned,
    counted,
    phased,
    handed,
    raced,
    regions,
    flags = regions
  };
  enum class phase_kind : std::uint8_t { plain, block, produced, alone, last = alone };
  enum class meeting : std::uint8_t { none, barrier, reduce, broadcast, change, hold, last = hold };
  struct lock {
    sync::object_kind kind{};
    unsigned node = 0;  ///< that makes it
    std::uint64_t object = 0;
  };
  /// Two nodes are to write the same word in a block.
  struct overlap {
    std::uint64_t at = 0;
    unsigned a = 0, b = 0;
  };
  struct phase {
    phase_kind kind{};
    bool checked = false;  ///< the block
    std::vector<overlap> overlaps{};
    meeting what{};
    unsigned node = 0;  ///< the producer; who writes alone; the root of a broadcast
  };
  struct thread : actor {
    thread(world& w, node& at, unsigned number, unsigned place, std::uint64_t seed)
        : actor(w, at, number, seed), place(place) {}
    unsigned place;                                                    ///< among all threads
    [[nodiscard]] bool leads() const noexcept { return number == 1; }  ///< of its node
  };

  // job.cpp
  [[nodiscard]] world_options draw_options();
  void draw_network(sim::network_options& net);
  void draw_memory(world_options& o);
  [[nodiscard]] core::region_description describe(unsigned number, quire_consistency consistency);
  [[nodiscard]] quire_consistency draw_consistency(unsigned release_percent);
  void plan_phases();
  void plan_others(quire_consistency raced_one);
  void plan_turns();
  [[nodiscard]] std::uint64_t address(unsigned region, std::uint64_t page, std::uint64_t word) const;
  [[nodiscard]] std::uint64_t page_bytes() const noexcept { return unit_; }
  void make_lock(std::size_t number);
  void make_others(actor& maker);
  [[nodiscard]] bool may_write(const thread& t, unsigned phase) const noexcept;
  void live(thread& t);
  void do_phase(thread& t, unsigned number);
  void look_at_all(thread& t);
  void count(node& n);

  // job_steps.cpp
  void step(thread& t, unsigned phase);
  void use_free(thread& t);
  void use_locked(thread& t);
  void use_pinned(thread& t);
  void hold_pinned(thread& t, std::uint64_t page, std::uint64_t count);
  void use_counted(thread& t);
  void use_phased(thread& t, unsigned phase);
  void hint(thread& t);
  void push(thread& t);

  // job_meetings.cpp
  void meet(thread& t, unsigned phase);
  void reduce(thread& t);
  void broadcast(thread& t, unsigned phase);
  void change(thread& t, unsigned phase);
  void hold(thread& t);
  void check_kept(thread& t, const std::vector<core::kept_run>& kept);
  void begin_block(thread& t, phase& p);
  void write_overlaps(thread& t, const phase& p);
  void end_block(thread& t, const phase& p);

  job_options options_;
  sim::random draw_;
  std::uint32_t unit_ = 4096;
  unsigned scan_percent_ = 0;  ///< of regions with release consistency
  bool replicas_ = false;
  bool in_order_ = true;  ///< see races
  world world_;           ///< after what its options are drawn with
  bool scanned_ = false;  ///< the region of locks is
  unsigned pages_ = 1, steps_ = 0;
  std::vector<lock> locks_{};
  std::vector<phase> phases_{};
  std::vector<unsigned> threads_{};  ///< of each node
  unsigned all_threads_ = 0;
  std::uint64_t barrier_ = 0;
  std::unique_ptr<groups> groups_{};
  std::unique_ptr<races> races_{};
  std::unique_ptr<turns> turns_{};
  std::unique_ptr<comings> comings_{};
  std::map<std::uint64_t, std::pair<unsigned, unsigned>> pinned_by_{};  ///< page: node, how often
  std::map<std::uint64_t, std::set<std::uint64_t>> before_{};           ///< of a counter: what additions have found
  std::map<std::string, std::uint64_t> done_{};
};

}  // namespace quire::whole
