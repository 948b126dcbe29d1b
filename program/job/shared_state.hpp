// SPDX-License-Identifier: BSD-3-Clause
// What the nodes of a team share beside the program's memory: locks, and the counters of loops whose parts are handed
// out.
#pragma once

#include <quire/quire.h>
#include <signal.h>

#include <cstdint>

#include "program/job/fortran_state.hpp"
#include "program/job/job.hpp"
#include "program/job/loaded_library.hpp"

namespace quire::program {

/// Heaps of large blocks under `mixed` memory (posix/memory/release_heap.hpp): those of classes, and one more for what
/// is too large for these, or finds no room there.
inline constexpr unsigned release_classes = 8, release_heaps = release_classes + 1;

/// A loop's, or a section's: which parts are taken.
struct loop_counter {
  std::uint64_t turn;  ///< of an ordered loop: its number << 40, and the iteration up to which all have had their turn
  std::uint64_t word;  ///< the number of a loop of the region << 40, and how many of its iterations are taken
};

/// What the threads of a team share.
struct common_state {
  static constexpr std::uint32_t most_shares = 64, most_kept = 16;
  struct kept_memory {
    std::uint64_t number;  ///< the construct whose memory it is, counted by each thread
    void* memory;
  } kept[most_kept];
  std::uint64_t copied;           ///< the address that a copyprivate hands on
  std::uint32_t cancelled;        ///< the region
  std::uint32_t cancelled_share;  ///< the loop or sections that the team is in
};

/// What threads of the program have set by sigaction(2).
struct signal_actions {
  static constexpr int most = 65;
  std::uint32_t version;  ///< of all
  struct sigaction set[most];
  std::uint32_t versions[most];  ///< 0: nothing was set
};

struct desk;

struct shared_state {
  static constexpr std::uint32_t most_locks = 1u << 20;
  quire_mutex critical, atomics,
      names;            ///< of critical sections without a name; of atomic operations without an instruction; of tables
  quire_mutex loading;  ///< of libraries that are loaded during the run (loader/loading/loading.cpp)
  quire_mutex process;  ///< of calls that change what a process has once (posix/errands/on_all_nodes.hpp)
  alignas(4096) std::uint64_t locks[most_locks];  ///< handles by number - 1; 0: free
  std::uint64_t locks_used;                       ///< below that all numbers have been given
  struct alignas(4096) {
    loop_counter counter;
  } shares[common_state::most_shares];
  fortran_settings fortran;
  fortran_units units;
  void* allocations;     ///< which variables omp_alloc() has made, of gcc's Fortran (omp/gomp/allocations.cpp)
  void* threadprivates;  ///< what is known of variables that clang asks for by calls (omp/kmp/threadprivate.cpp)
  alignas(4096) std::uint64_t single;  ///< which is claimed last (single.cpp)
  alignas(4096) common_state common;   ///< of the team of all nodes
  alignas(4096) variables own;         ///< what tasks of its region begin with
  alignas(4096) signal_actions actions;
  char affinity_format[settings::longest_format];  ///< omp_set_affinity_format(); `names` guards it
  std::uint32_t affinity_format_set;
  desk* desks;                                   ///< of clerks (posix/errands/errand.hpp), one after the other
  alignas(64) std::uint32_t children_elsewhere;  ///< 1: threads of other nodes than node 0 have made some
  /// Of pages of a heap, a bit a page for each page_mark (posix/memory/page_marks.hpp).
  struct closed_pages {
    std::uint64_t first, pages;
    std::uint64_t *zero, *unmapped, *begins, *leaves, *stale;
  } closed[1 + release_heaps];  ///< of the heap, and of those of large blocks that there are
  /// What sbrk(2) has given (posix/mappings/breaks.cpp), under `process`.
  struct {
    std::uint64_t first, now, end;  ///< 0: it was never called
  } data_end;
  alignas(4096) loaded_library libraries[loaded_library::most];  ///< under `loading`
  static constexpr std::size_t most_thread_objects = 1u << 14;
  std::uint32_t
      thread_objects[most_thread_objects];  ///< of libraries, by their place (posix/pthreads/thread_objects.hpp)
  std::uint64_t next_library;               ///< where the next one may lie
  alignas(4096) std::uint64_t exit_status;  ///< + 1, of a thread on another node than 0 that has called exit(3)
};

/// Collective, once.
void open_shared_state();
[[nodiscard]] shared_state& shared() noexcept;
/// Node 0, before the program begins: pages of a heap of large blocks, which is the n-th, have marks, too.
void add_marks_of(unsigned n, quire_region large_blocks) noexcept;

}  // namespace quire::program
