// SPDX-License-Identifier: BSD-3-Clause
// Memory that programs allocate: from region 0, the job's heap, and from regions that they have made to be heaps
// (shared_heap.hpp). Each is cut into slices: a node allocates from its own without a message. Frees of another node's
// memory are gathered (remote_frees.cpp) and travel together to the slice's node. After a restart on another number of
// nodes (restored.cpp) a node may have several slices of a heap, or none. keeper.hpp has how regions come and go.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "base/status.hpp"
#include "core/core.hpp"
#include "heap/heap.hpp"
#include "heap/remote_frees.hpp"
#include "region/announcements.hpp"
#include "region/keeper.hpp"
#include "region/shared_heap.hpp"
#include "region/services.hpp"

namespace quire::region {

/// The memory of quire_malloc().
struct heap_settings {
  std::uint32_t unit_bytes = 4096;
  quire_consistency consistency = QUIRE_SEQUENTIAL;
  int orders = 0;  ///< as quire_region_options has it
  /// So many frees of a node's memory travel together; 1: each by itself, and its caller waits for the answer.
  std::size_t free_batch = 1;
  /// Not 0: allocations of at most 2048 bytes are sharing units of their own, from a heap with so many views.
  std::uint16_t views = 0;
  quire_grouping grouping = QUIRE_GROUP_NONE;  ///< of that
  /// Of all heaps with views: accesses past objects are found (minipage_heap).
  bool guards = false;
};

class registry {
 public:
  explicit registry(core::core& e) : core_(e), keeper_(e), announcements_(e) {}
  ~registry();
  /// Makes region 0, and that of small objects where they have one; answers the services of regions and memory. Before
  /// the engine starts.
  [[nodiscard]] base::status open(const heap_settings& how);

  /// The other regions.
  [[nodiscard]] keeper& others() noexcept { return keeper_; }

  // Memory. Of region zero, or of one that is a heap. `got` tells which of it may not be zero.
  [[nodiscard]] base::status allocate(quire_region from, std::uint64_t bytes, std::uint64_t alignment,
                                      heap::allocation& got);
  /// Grows or shrinks in place; NO_MEMORY when the caller must move it.
  [[nodiscard]] base::status resize(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] base::status release(std::uint64_t address);
  [[nodiscard]] base::status size_of(std::uint64_t address, std::uint64_t& bytes);
  /// The allocation that has this byte, wherever it was made: heap::around().
  [[nodiscard]] base::result<heap::allocation> around(std::uint64_t address);
  /// The free pages that have it: heap::gap_around().
  [[nodiscard]] base::result<heap::allocation> gap_around(std::uint64_t address);
  /// heap::allocate_at().
  [[nodiscard]] base::status allocate_at(std::uint64_t address, std::uint64_t bytes, heap::allocation& got);
  /// It is free when the call returns, wherever it was made. `zero`: all of its content is.
  [[nodiscard]] base::status release_now(std::uint64_t address, bool zero);
  /// Of a heap with views: from now on this node puts so many objects into each minipage.
  [[nodiscard]] base::status set_chunk(quire_region heap, unsigned slots);

  // Frees of other nodes' memory (remote_frees.cpp).
  /// Sends what has been gathered. Costs nothing where that is nothing.
  void flush_frees();
  /// The same, and returns when the others have freed it and said what was wrong.
  void settle_frees();
  /// Frees of this node that gave nothing back, as their owners have found out later.
  [[nodiscard]] std::uint64_t bad_frees() const noexcept { return bad_frees_.load(std::memory_order_relaxed); }

  [[nodiscard]] core::core& core() noexcept { return core_; }

  // Checkpoints (restored.cpp).
  /// What this node knows of all heaps, as words.
  void save(std::vector<std::uint64_t>& heap);
  /// Whether anything was allocated here, or any region made.
  [[nodiscard]] bool is_used();
  /// Of a job that has not used its memory, and has made the regions: the heaps that all nodes have saved. Cuts what
  /// was never handed out anew, so that each node has its share. False, with a sentence, if they do not make one heap;
  /// nothing has changed then. All nodes know the minipages of all of them then.
  [[nodiscard]] bool load_heap(std::span<const std::span<const std::uint64_t>> saved, std::string& why);
  /// Makes a region that a checkpoint knows, on this node; all nodes call, in the same order. Its home may be of a
  /// larger job.
  [[nodiscard]] base::status load_region(core::region_description about);

 private:
  using slice = shared_heap::slice;
  [[nodiscard]] base::status open_small(std::uint64_t base, const heap_settings& how);
  void serve_looks() noexcept;
  void on_made(const core::region_description& about);
  void on_gone(const core::region_description& about) noexcept;
  void clear_old() noexcept;
  [[nodiscard]] shared_heap* heap_of_handle(std::uint64_t handle) const noexcept;
  /// The heap that an address lies in, and whose region has it now; null if there is none.
  [[nodiscard]] shared_heap* heap_of(std::uint64_t address, core::region_ref* in = nullptr) const noexcept;
  /// Where it lies, by its natural address, which replaces `address`. Null for what no heap gives as an address.
  [[nodiscard]] const slice* slice_of(std::uint64_t& address) const noexcept;
  [[nodiscard]] base::result<heap::allocation> look_around(std::uint64_t address, bool gap);
  [[nodiscard]] base::status ask(model::node_id to, region::service number, model::message& m,
                                 std::span<const std::byte> value = {});
  [[nodiscard]] base::status allocate_from(quire_region from, std::uint64_t bytes, std::uint64_t alignment,
                                           heap::allocation& got);
  [[nodiscard]] base::result<heap::allocation> allocate_here(shared_heap& from, std::uint64_t bytes,
                                                             std::uint64_t alignment);
  [[nodiscard]] base::status allocate_elsewhere(const shared_heap& from, std::uint64_t bytes, std::uint64_t alignment,
                                                heap::allocation& given);
  [[nodiscard]] base::status allocate_at(model::node_id node, const shared_heap& from, std::uint64_t bytes,
                                         std::uint64_t alignment, heap::allocation& given);
  void on_allocate(const model::message& m) noexcept;
  void on_laid(std::uint64_t handle, const heap::span_plan& plan, base::status why) noexcept;

  // restored.cpp
  [[nodiscard]] bool lay(const heap::span_plan& cut) noexcept;

  // remote_frees.cpp
  void open_frees(std::size_t batch);
  [[nodiscard]] base::status release_elsewhere(const slice& where, std::uint64_t address);
  [[nodiscard]] bool waits_to_be_free(const slice& where, std::uint64_t address);
  [[nodiscard]] std::uint64_t word_of(std::uint64_t address) const noexcept;
  void send_frees(unsigned node, const std::vector<std::uint64_t>& addresses);
  std::uint64_t send_all_frees(std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t collect_frees();
  void on_release_many(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_release_refused(const model::message& m, std::span<const std::byte> value) noexcept;

  core::core& core_;
  keeper keeper_;
  bool guards_ = false;
  std::uint64_t small_ = 0;  ///< handle of the region that small objects of the job's heap come from; 0: of region 0
  announcements announcements_;
  base::fault_deque<model::message> waiting_{};  ///< requests for memory, until pages are laid out; driver's thread
  /// By region. Made and taken away by the driver; what is taken away is in nobody's hands but those of programs in
  /// error, and goes a little later.
  std::array<std::atomic<shared_heap*>, core::region_map::max_regions> heaps_{};
  std::atomic<shared_heap*> old_{nullptr};
  std::mutex frees_mutex_;  ///< never held while the driver is waited for
  std::unique_ptr<heap::remote_frees> frees_;
  std::size_t free_batch_ = 1;
  std::atomic<std::size_t> frees_waiting_{0};  ///< of `frees_`, for a look without the mutex
  std::atomic<std::uint64_t> bad_frees_{0};
  std::atomic<std::uint64_t> dead_{0};  ///< nodes, where others go on without them
};

}  // namespace quire::region
