// Regions and the job's heap. Region 0 is the heap, cut into one slice a node: a node allocates from its own slice without
// a message and is home of what it allocates; a free elsewhere travels to the slice's node. Other regions are made by
// request to node 0, which hands out addresses and answers when every node has mapped them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/status.hpp"
#include "engine/engine.hpp"
#include "heap/heap.hpp"
#include "region/services.hpp"

namespace quire::region {

class registry {
 public:
  /// Makes region 0 and answers the services of regions and memory. Before the engine starts.
  explicit registry(engine::engine& e) : engine_(e) {}
  [[nodiscard]] base::status open(std::uint32_t heap_unit_bytes, quire_consistency consistency);

  [[nodiscard]] base::status create(const quire_region_options& options, std::uint64_t bytes, quire_region& region);

  // Memory. What follows the first `dirty_bytes` was never handed out before: it is zero.
  [[nodiscard]] base::status allocate(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t& address,
                                      std::uint64_t& dirty_bytes);
  /// Grows or shrinks in place; NO_MEMORY when the caller must move it.
  [[nodiscard]] base::status resize(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] base::status release(std::uint64_t address);
  [[nodiscard]] base::status size_of(std::uint64_t address, std::uint64_t& bytes);

  [[nodiscard]] engine::engine& core() noexcept { return engine_; }

 private:
  struct pending_region {
    model::message request;
    unsigned left = 0;
    base::status why{};
    engine::region_description about{};
  };
  void on_create(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_announce(std::span<const std::byte> value) noexcept;
  void on_added(const model::message& m) noexcept;
  [[nodiscard]] bool slice_of(std::uint64_t address, model::node_id& node) const noexcept;
  [[nodiscard]] base::status ask(model::node_id to, region::service number, model::message& m,
                                 std::span<const std::byte> value = {});

  engine::engine& engine_;
  std::unique_ptr<heap::heap> heap_;
  std::uint64_t slice_bytes_ = 0;
  bool heap_relaxed_ = false;  ///< its memory has release consistency
  // On node 0 only, driver's thread:
  std::uint64_t next_base_ = 0;
  std::uint16_t next_id_ = 1;
  std::map<std::uint16_t, pending_region> pending_;
};

}  // namespace quire::region
