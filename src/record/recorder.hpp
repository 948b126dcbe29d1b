// SPDX-License-Identifier: BSD-3-Clause
// What a node keeps for the report (QUIRE_REPORT): for each thread what it did when, which units and which instructions
// of the program cost how much, where and when the node faulted, to whom it sent, the names that the program gave.
// Memory of a fixed size is mapped at the start, and costs nothing until it is used. Threads write to records of their
// own, without a lock; those beyond `most_threads` are summed. Where nobody wants a report there is no recorder. The
// memory is a file without a name, which another process may keep: then what a node has recorded outlives it
// (tell.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "record/frequent.hpp"
#include "record/heat.hpp"
#include "record/segments.hpp"

namespace quire::record {

inline constexpr std::size_t most_threads = 256, segments_a_thread = 32768, most_heats = 16, most_phases = 63,
                             most_labels = 1024, longest_name = 63;

/// The instruction that faulted, and who may have called it, the innermost first; 0: not known.
using calls = std::array<std::uint64_t, 4>;

/// A place in the program that used a unit.
struct unit_key {
  std::uint64_t unit = 0;  ///< its number, and from bit 46 on its region's
  calls from{};
  bool operator==(const unit_key&) const = default;
  [[nodiscard]] std::uint64_t hash() const noexcept { return mixed(mixed(1, unit), from[0] ^ from[1]); }
};
struct site_key {
  calls from{};
  bool operator==(const site_key&) const = default;
  [[nodiscard]] std::uint64_t hash() const noexcept { return mixed(mixed(2, from[0]), from[1]); }
};
/// By access: 0 is reads, 1 writes.
struct fault_sums {
  std::uint64_t faults[2], ns[2];
  std::uint64_t lines[2];  ///< a bit for each 64th of the unit: the first byte of a fault lay there
};
/// Of one phase of a thread.
struct phase_sums {
  std::uint64_t ns = 0;  ///< waits included
  wait_times waited_ns{};
};

/// What one thread writes. All bytes zero: nobody has it.
struct thread_record {
  std::atomic<bool> busy;  ///< its thread is in it
  std::uint32_t number;    ///< as quire_thread() says
  std::uint64_t phase, phase_begin_ns;
  segments when;
  std::array<phase_sums, most_phases + 1> phases;
  frequent<unit_key, fault_sums, 4096> units;
  frequent<site_key, fault_sums, 512> sites;
  std::array<segment, segments_a_thread> memory;
};

/// A part of memory that the program has named.
struct label {
  std::uint64_t address = 0, bytes = 0;
  std::array<char, longest_name + 1> name{};
};

/// What is known of a region where faults are counted.
struct region_place {
  std::uint16_t id = 0;
  bool release = false;
  std::uint64_t address = 0, bytes = 0, unit_bytes = 0;
};
struct heat_of {
  bool used;
  region_place region;
  heat map;
};
struct peer {
  std::uint64_t messages, bytes;
};

/// All that is recorded. All bytes zero: nothing yet. Another process may read it once nobody writes any more, if it is
/// of the same build.
struct memory {
  static constexpr std::size_t most_about_bytes = 1 << 18;
  std::uint64_t mark;  ///< `mark_of_build`
  std::uint64_t begin_ns, met_ns;
  std::uint64_t nodes;
  std::atomic<std::uint64_t> taken;  ///< records of threads that are in use, or more
  std::atomic<std::uint64_t> phases, labels;
  std::array<std::atomic<std::uint64_t>, waits> rest;
  std::array<std::array<char, longest_name + 1>, most_phases> phase_names;
  std::array<label, most_labels> label_rows;
  std::array<peer, base::most_nodes> peers;
  std::uint64_t about_bytes;                      ///< 0: not told
  std::array<std::byte, most_about_bytes> about;  ///< a file (file.hpp): who the node is, and what is loaded
  std::array<heat_of, most_heats> heats;
  std::array<thread_record, most_threads> threads;

  [[nodiscard]] std::span<const thread_record> threads_in_use() const noexcept {
    return std::span(threads).first(std::min<std::uint64_t>(taken.load(std::memory_order_acquire), most_threads));
  }
};
inline constexpr std::uint64_t mark_of_build = 0x5155495245000001u ^ sizeof(memory);

class recorder {
 public:
  /// Null, and a line: there is not so much address space.
  [[nodiscard]] static std::unique_ptr<recorder> make(std::uint64_t now_ns, unsigned nodes) {
    return make(now_ns, nodes, {});
  }
  /// Its memory is this file, if it can be made: it outlives a node that is killed, without anybody's help. An empty
  /// path: a file without a name.
  [[nodiscard]] static std::unique_ptr<recorder> make(std::uint64_t now_ns, unsigned nodes, const std::string& path);
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  struct fault {
    std::uint16_t region;
    std::uint64_t unit;
    unsigned line;  ///< which 64th of the unit
    bool write;
    calls from;
    std::uint64_t begin_ns, end_ns;
  };
  /// The calling thread has waited. `own` is where it keeps its record, null at first; `number` is its own. Any thread,
  /// fault context.
  void on_fault(thread_record*& own, std::uint32_t number, const fault& f) noexcept;
  void on_wait(thread_record*& own, std::uint32_t number, wait kind, std::uint64_t begin_ns,
               std::uint64_t end_ns) noexcept;
  /// The calling thread begins a phase; an empty name ends the one it is in. False: there are too many.
  [[nodiscard]] bool on_phase(thread_record*& own, std::uint32_t number, std::string_view name, std::uint64_t now_ns);
  /// False: there are too many. A label of the same address is replaced. Application threads.
  [[nodiscard]] bool add_label(std::uint64_t address, std::uint64_t bytes, std::string_view name);
  /// Who the node is, for those who read the memory without it. At the start; what is too long is left out.
  void set_about(std::span<const std::byte> file) noexcept;

  /// Driver's thread. `about` gives the region_place of `region`, and is called where it is the first fault there.
  template <class About>
  void on_access(std::uint16_t region, std::uint64_t address, std::uint64_t now_ns, About&& about) noexcept {
    heat_of& of = heat_for(region);
    if (!of.used) {
      of.region = about();
      of.used = true;
    }
    of.map.add(address, now_ns - std::min(now_ns, memory_->begin_ns), 1);
  }
  void on_sent(unsigned node, std::uint64_t bytes) noexcept {
    ++memory_->peers[node].messages;
    memory_->peers[node].bytes += bytes;
  }

  /// All nodes have met, at this time: by it their records are laid side by side.
  void on_met(std::uint64_t now_ns) noexcept { memory_->met_ns = now_ns; }
  /// The record ends: threads write no more. Those that do so at this moment are waited for, a moment. False: it has
  /// ended before.
  [[nodiscard]] bool close() noexcept;

  /// Of the memory, for who keeps it; -1: it is of this process alone.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Once it is closed.
  [[nodiscard]] const memory& all() const noexcept { return *memory_; }

 private:
  recorder() = default;
  /// Enters the record of the calling thread; null if it has none, or the record ends.
  thread_record* enter(thread_record*& own, std::uint32_t number, std::uint64_t now_ns) noexcept;
  void add_to_rest(wait kind, std::uint64_t ns) noexcept {
    memory_->rest[static_cast<std::size_t>(kind)].fetch_add(ns, std::memory_order_relaxed);
  }
  [[nodiscard]] heat_of& heat_for(std::uint16_t region) noexcept;
  [[nodiscard]] std::size_t phase_of(std::string_view name);

  memory* memory_ = nullptr;
  int descriptor_ = -1;
  std::mutex naming_;  ///< of labels, and of new phases
  std::atomic<bool> closed_{false};
};

}  // namespace quire::record
