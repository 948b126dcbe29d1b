// SPDX-License-Identifier: BSD-3-Clause
// Regions and the job's heap. Region 0 is the heap, cut into slices, one a node: a node allocates from its own slice without
// a message and is home of what it allocates. Frees of another node's memory are gathered (remote_frees.cpp) and travel together to the
// slice's node. After a restart on another number of
// nodes (restored.cpp) a node may have several slices, or none. Other regions are made by request to node 0, which hands out
// addresses and answers when every node has mapped them.
#pragma once

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
#include "region/services.hpp"

namespace quire::region {

class registry {
 public:
  /// Makes region 0 and answers the services of regions and memory. Before the engine starts.
  explicit registry(core::core& e) : core_(e) {}
  /// `free_batch`: so many frees of a node's memory travel together; 1: each by itself, and its caller waits for the answer.
  [[nodiscard]] base::status open(std::uint32_t heap_unit_bytes, quire_consistency consistency, std::size_t free_batch);

  [[nodiscard]] base::status create(const quire_region_options& options, std::uint64_t bytes, quire_region& region);

  // Memory. What follows the first `dirty_bytes` was never handed out before: it is zero.
  [[nodiscard]] base::status allocate(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t& address,
                                      std::uint64_t& dirty_bytes);
  /// Grows or shrinks in place; NO_MEMORY when the caller must move it.
  [[nodiscard]] base::status resize(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] base::status release(std::uint64_t address);
  [[nodiscard]] base::status size_of(std::uint64_t address, std::uint64_t& bytes);

  // Frees of other nodes' memory (remote_frees.cpp).
  /// Sends what has been gathered. Costs nothing where that is nothing.
  void flush_frees();
  /// The same, and returns when the others have freed it and said what was wrong.
  void settle_frees();
  /// Frees of this node that gave nothing back, as their owners have found out later.
  [[nodiscard]] std::uint64_t bad_frees() const noexcept { return bad_frees_.load(std::memory_order_relaxed); }

  [[nodiscard]] core::core& core() noexcept { return core_; }

  // Checkpoints (restored.cpp).
  /// What this node knows of the heap, as words; after it on node 0: where the next region begins, and its number.
  void save(std::vector<std::uint64_t>& heap, std::uint64_t& next_base, std::uint64_t& next_id);
  /// Whether anything was allocated here, or any region made.
  [[nodiscard]] bool is_used();
  /// Of a job that has not used its memory: the heaps that all nodes have saved. Cuts what was never handed out anew, so
  /// that each node has its share. False, with a sentence, if they do not make one heap; nothing has changed then.
  [[nodiscard]] bool load_heap(std::span<const std::span<const std::uint64_t>> saved, std::string& why);
  /// Makes a region that a checkpoint knows, on this node; all nodes call, in the same order. Its home may be of a larger job.
  [[nodiscard]] base::status load_region(core::region_description about);
  void load_next(std::uint64_t next_base, std::uint64_t next_id);

 private:
  /// A part of the heap. They cover it without gaps, by address.
  struct slice {
    std::uint64_t base = 0, end = 0;
    model::node_id node{};
    std::unique_ptr<heap::heap> memory{};  ///< on its own node
  };
  struct pending_region {
    model::message request;
    unsigned left = 0;
    std::uint64_t answered = 0;  ///< by node, of the first 64
    base::status why{};
    core::region_description about{};
  };
  void on_create(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_announce(std::span<const std::byte> value) noexcept;
  void on_added(const model::message& m) noexcept;
  void on_answer(pending_region& p, unsigned node);
  void on_death(unsigned node);
  [[nodiscard]] const slice* slice_of(std::uint64_t address) const noexcept;
  [[nodiscard]] std::vector<slice> cut(std::uint64_t base, std::uint64_t end, std::uint64_t used_end) const;
  [[nodiscard]] base::result<heap::allocation> allocate_here(std::uint64_t bytes, std::uint64_t alignment) noexcept;
  [[nodiscard]] base::result<std::uint64_t> size_here(std::uint64_t address) const noexcept;
  [[nodiscard]] base::status release_here(std::uint64_t address) noexcept;
  [[nodiscard]] base::status ask(model::node_id to, region::service number, model::message& m,
                                 std::span<const std::byte> value = {});
  [[nodiscard]] base::status allocate_elsewhere(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t& address,
                                                std::uint64_t& dirty_bytes);

  // remote_frees.cpp
  void open_frees(std::size_t batch);
  [[nodiscard]] base::status release_elsewhere(const slice& where, std::uint64_t address);
  [[nodiscard]] bool waits_to_be_free(const slice& where, std::uint64_t address);
  void send_frees(unsigned node, const std::vector<std::uint64_t>& addresses);
  std::uint64_t send_all_frees(std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t collect_frees();
  void on_release_many(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_release_refused(const model::message& m, std::span<const std::byte> value) noexcept;

  core::core& core_;
  core::region_description heap_about_{};
  std::vector<slice> slices_;  ///< changes only in load_heap()
  bool heap_relaxed_ = false;  ///< its memory has release consistency
  std::mutex frees_mutex_;     ///< never held while the driver is waited for
  std::unique_ptr<heap::remote_frees> frees_;
  std::size_t free_batch_ = 1;
  std::atomic<std::size_t> frees_waiting_{0};  ///< of `frees_`, for a look without the mutex
  std::atomic<std::uint64_t> bad_frees_{0};
  std::atomic<std::uint64_t> dead_{0};  ///< nodes, where others go on without them
  // On node 0 only, driver's thread:
  std::uint64_t next_base_ = 0;
  std::uint16_t next_id_ = 1;
  base::fault_map<std::uint16_t, pending_region> pending_;
};

}  // namespace quire::region
