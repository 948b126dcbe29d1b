// SPDX-License-Identifier: BSD-3-Clause
// What a node keeps for the report (QUIRE_REPORT): for each thread what it did when, which units and which instructions of the program cost how much, where
// and when the node faulted, to whom it sent, the names that the program gave. Memory of a fixed size is mapped at the start, and costs nothing until it is
// used. Threads write to records of their own, without a lock; those beyond `most_threads` are summed. Where nobody wants a report there is no recorder.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "base/status.hpp"
#include "record/frequent.hpp"
#include "record/heat.hpp"
#include "record/segments.hpp"

namespace quire::record {

inline constexpr std::size_t most_threads = 256, segments_a_thread = 32768, most_heats = 16, most_phases = 63, most_labels = 1024, longest_name = 63;

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
  std::atomic<bool> busy;      ///< its thread is in it
  std::uint32_t number;        ///< as quire_thread() says
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

class recorder {
 public:
  /// Null, and a line: there is not so much address space.
  [[nodiscard]] static std::unique_ptr<recorder> make(std::uint64_t now_ns, unsigned nodes);
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
  /// The calling thread has waited. `own` is where it keeps its record, null at first; `number` is its own. Any thread, fault context.
  void on_fault(thread_record*& own, std::uint32_t number, const fault& f) noexcept;
  void on_wait(thread_record*& own, std::uint32_t number, wait kind, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept;
  /// The calling thread begins a phase; an empty name ends the one it is in. False: there are too many.
  [[nodiscard]] bool on_phase(thread_record*& own, std::uint32_t number, std::string_view name, std::uint64_t now_ns);
  /// False: there are too many. A label of the same address is replaced. Application threads.
  [[nodiscard]] bool add_label(std::uint64_t address, std::uint64_t bytes, std::string_view name);

  /// Driver's thread.
  void on_access(std::uint16_t region, std::uint64_t address, std::uint64_t now_ns) noexcept;
  void on_sent(unsigned node, std::uint64_t bytes) noexcept {
    ++peers_[node].messages;
    peers_[node].bytes += bytes;
  }

  /// All nodes have met, at this time: by it their records are laid side by side.
  void on_met(std::uint64_t now_ns) noexcept { met_ns_ = now_ns; }
  /// The record ends: threads write no more. Those that do so at this moment are waited for, a moment. False: it has ended before.
  [[nodiscard]] bool close() noexcept;

  // Once it is closed.
  struct heat_of {
    bool used;
    std::uint16_t region;
    heat map;
  };
  struct peer {
    std::uint64_t messages, bytes;
  };
  [[nodiscard]] std::uint64_t begin_ns() const noexcept { return begin_ns_; }
  [[nodiscard]] std::uint64_t met_ns() const noexcept { return met_ns_; }
  [[nodiscard]] std::span<const thread_record> threads() const noexcept;
  /// Whether a thread is still in its record, which then is not to be read.
  [[nodiscard]] static bool in_use(const thread_record& of) noexcept { return of.busy.load(std::memory_order_acquire); }
  [[nodiscard]] std::span<const heat_of> heats() const noexcept { return {heats_, most_heats}; }
  [[nodiscard]] std::span<const peer> peers() const noexcept { return {peers_.get(), nodes_}; }
  [[nodiscard]] std::span<const label> labels() const noexcept { return {labels_.get(), label_count_}; }
  [[nodiscard]] std::string_view phase_name(std::size_t phase) const noexcept { return phase_names_[phase - 1].data(); }
  [[nodiscard]] std::size_t phases() const noexcept { return phase_count_.load(std::memory_order_acquire); }
  /// What threads without a record of their own have waited.
  [[nodiscard]] wait_times rest() const noexcept;

 private:
  recorder(std::uint64_t now_ns, unsigned nodes);
  /// Enters the record of the calling thread; null if it has none, or the record ends.
  thread_record* enter(thread_record*& own, std::uint32_t number, std::uint64_t now_ns) noexcept;
  void add_to_rest(wait kind, std::uint64_t ns) noexcept { rest_[static_cast<std::size_t>(kind)].fetch_add(ns, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t phase_of(std::string_view name);

  std::uint64_t begin_ns_, met_ns_;
  unsigned nodes_;
  thread_record* threads_ = nullptr;
  heat_of* heats_ = nullptr;
  std::unique_ptr<peer[]> peers_;
  std::unique_ptr<label[]> labels_;
  std::size_t label_count_ = 0;
  std::array<std::array<char, longest_name + 1>, most_phases> phase_names_{};
  std::atomic<std::size_t> phase_count_{0};
  std::mutex naming_;  ///< of labels, and of new phases
  std::atomic<std::size_t> taken_{0};
  std::atomic<bool> closed_{false};
  std::array<std::atomic<std::uint64_t>, waits> rest_{};
};

}  // namespace quire::record
