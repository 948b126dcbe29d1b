// SPDX-License-Identifier: BSD-3-Clause
// A random program on a whole job, and how it must come out. Its threads do all that a program can ask of Quire, at moments that chance decides:
//
//   free     words of a region with sequential consistency, which anybody reads and writes: each read finds what was written last
//   locked   words that belong to mutexes, rwlocks and semaphores, those of different locks beside each other; the region's consistency changes
//   pinned   words that are used by who has pinned their page
//   counted  words that are only added to, atomically
//   phased   words that have another owner in each phase, between barriers; phases may be parallel blocks, or produced
//
// Beside that hints, read-ahead, pushes, collectives, checkpoints' holds, frames and twins that are few. At the end all nodes find in all words
// what was written last.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/whole/world.hpp"
#include "sync/call.hpp"

namespace quire::whole {

struct job_options {
  std::uint64_t seed = 1;
  unsigned nodes = 2;
  unsigned most_threads = 3;  ///< of a node
  unsigned most_pages = 6;    ///< of a region
  unsigned most_phases = 4;
  unsigned most_steps = 40;   ///< of a thread in a phase
  bool blocks = false;        ///< all phases are parallel blocks that are checked
  unsigned pins_percent = 0;  ///< of a thread's steps; and as many of all others as chance will have it
};

class job {
 public:
  explicit job(const job_options& options);
  /// What is wrong, or an empty text.
  [[nodiscard]] std::string run();
  [[nodiscard]] world& nodes() noexcept { return world_; }
  /// What has been done, by name: for tests that want to have seen it.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& done() const noexcept { return done_; }

 private:
  enum region_number : unsigned { free_words, locked, pinned, counted, phased, regions };
  enum class phase_kind : std::uint8_t { plain, block, produced, last = produced };
  enum class meeting : std::uint8_t { none, barrier, reduce, broadcast, change, hold, last = hold };
  struct lock {
    sync::object_kind kind{};
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
    unsigned producer = 0;
  };
  struct thread {
    node& here;
    unsigned number = 0;  ///< of the thread on its node, from 1; the first one leads
    unsigned place = 0;   ///< among all threads
    sim::random draw;
    [[nodiscard]] bool leads() const noexcept { return number == 1; }
  };

  [[nodiscard]] world_options draw_options(const job_options& given);
  [[nodiscard]] core::region_description describe(unsigned number, quire_consistency consistency);
  [[nodiscard]] quire_consistency draw_consistency(unsigned release_percent);
  [[nodiscard]] std::uint64_t address(unsigned region, std::uint64_t page, std::uint64_t word) const;
  [[nodiscard]] std::uint64_t page_bytes() const noexcept { return unit_; }

  void make_objects(node& here);
  void live(thread t);
  void do_phase(thread& t, unsigned number);
  void step(thread& t, unsigned phase);
  void use_free(thread& t);
  void use_locked(thread& t);
  void use_pinned(thread& t);
  void use_counted(thread& t);
  void use_phased(thread& t, unsigned phase);
  void begin_block(thread& t, phase& p);
  void write_overlaps(thread& t, const phase& p);
  void end_block(thread& t, const phase& p);
  void hint(thread& t);
  void meet(thread& t, unsigned phase);
  void hold(thread& t);
  void look_at_all(thread& t);

  [[nodiscard]] base::status call(thread& t, sync::operation what, std::uint64_t& object, std::uint64_t operand = 0, std::int64_t timeout_ms = -1);
  void must(const base::status& why, const char* what, quire_status also = QUIRE_OK);
  void rest(thread& t);
  void check(thread& t, std::uint64_t address, std::uint64_t found);
  void write(thread& t, std::uint64_t address) { t.here.store(address, ++last_); }
  void read(thread& t, std::uint64_t address) { check(t, address, t.here.load(address)); }

  job_options options_;
  sim::random draw_;
  std::uint32_t unit_ = 4096;
  unsigned scan_percent_ = 0;  ///< of regions with release consistency
  world world_;  ///< after what its options are drawn with
  bool scanned_ = false;       ///< the region of locks is
  unsigned pages_ = 1, steps_ = 0;
  std::vector<lock> locks_{};
  std::vector<phase> phases_{};
  std::vector<unsigned> threads_{};  ///< of each node
  unsigned all_threads_ = 0;
  std::uint64_t barrier_ = 0, last_ = 0;
  std::map<std::uint64_t, std::pair<unsigned, unsigned>> pinned_by_{};  ///< page: node, how often
  std::map<std::uint64_t, std::set<std::uint64_t>> before_{};           ///< of a counter: what additions have found
  std::map<std::string, std::uint64_t> done_{};
};

}  // namespace quire::whole
