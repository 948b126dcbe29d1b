// SPDX-License-Identifier: BSD-3-Clause
// What a node knows of garbage-collected heaps: its slice of each, types and roots by name, and what comes in a
// collection. gc.cpp has the calls, gc_collect.cpp the collection, src/gc what decides.
//
// A heap is two regions. One has the objects, with the consistency that the program wants. The other one is the
// directory, always sequentially consistent: which heap it is of, descriptors of types, names of roots. Numbers of
// names come from node 0 by a message, so that no lock is taken and a call that is undone half way (in a transaction)
// can be made again. What this node knows of its slice is private: what a call that was undone has allocated is
// garbage.
#pragma once

#include <quire/gc.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/core.hpp"
#include "core/region_slot.hpp"
#include "gc/allocator.hpp"
#include "gc/items.hpp"
#include "gc/relocation.hpp"
#include "gc/types.hpp"
#include "model/message.hpp"

namespace quire::api {

/// The content of the directory's region. Nodes write different parts of it, or the same to it.
struct gc_directory {
  static constexpr std::uint64_t is_one = 0x7175697265676331;
  std::uint64_t magic = 0, heap = 0, base = 0;
  std::array<char, 4096 - 24> unused{};
  std::array<gc::type_record, gc::most_types> types{};  ///< number 1 first
  std::array<std::array<char, gc::longest_name + 1>, gc::most_roots> roots{};
};

/// What came from another node in a collection.
struct gc_parcel {
  unsigned from = 0;
  gc::item what{};
  std::uint64_t number = 0;
  std::uint32_t size = 0;
  std::array<std::byte, gc::packer::capacity> bytes{};
  [[nodiscard]] std::span<const std::byte> content() const noexcept { return {bytes.data(), size}; }
};

struct gc_heap {
  gc_heap(const core::region_slot& of, unsigned nodes, unsigned self, bool restored);

  /// Its objects are made and written by transactions.
  [[nodiscard]] bool is_transactional() const noexcept { return slot.consistency() == QUIRE_TRANSACTIONAL; }

  const core::region_slot& slot;
  const std::uint64_t handle, base;
  const gc::heap_shape shape;
  const bool restored;                            ///< it has objects of a job before this one
  std::atomic<gc_directory*> directory{nullptr};  ///< once a thread of this node has looked for it

  std::mutex memory_mutex{};  ///< of `memory`; nobody who holds it touches shared memory
  gc::slice_allocator memory;
  std::atomic<bool> collected{false};                   ///< since the restart, if there was one
  std::atomic<std::uint64_t> lends{~std::uint64_t{0}};  ///< nodes, up to 63, that may have memory left for others

  std::mutex names_mutex{};  ///< as memory_mutex
  struct known_name {
    unsigned number = 0;
    std::uint64_t layout = 0;
  };
  std::map<std::string, known_name, std::less<>> types{}, roots{};
  std::array<std::atomic<std::uint32_t>, gc::most_types + 1>
      type_bytes{};  ///< of an element, of types that this node has registered; else 0

  // Driver's thread.
  gc::registrar type_numbers{gc::most_types}, root_numbers{gc::most_roots};  ///< on node 0
  core::op* waiter = nullptr;                                                ///< waits for the inbox
  // Any thread.
  std::mutex inbox_mutex{};
  base::fault_vector<gc_parcel> inbox{};
  std::atomic<bool> has_mail{false};

  std::mutex evidence_mutex{};
  gc::evidence noted{};  ///< of this node, since the last collection
};

class gc_service {
 public:
  explicit gc_service(core::core& e);
  ~gc_service();

  // Application threads.
  /// Null, with a sentence for `call`, if there is none.
  [[nodiscard]] gc_heap* find(const char* call, quire_gc_heap handle);
  /// A region of a heap and its directory are there: others may find it.
  [[nodiscard]] base::status publish(quire_gc_heap heap, std::uint64_t directory);
  [[nodiscard]] static std::string name_of(std::uint64_t handle);

  [[nodiscard]] base::status type_of(gc_heap& heap, const char* name, std::uint64_t bytes,
                                     std::span<const std::uint32_t> offsets, std::uint32_t& number);
  [[nodiscard]] base::status root_of(gc_heap& heap, const char* name, std::uint64_t& address);
  /// `dirty`: granules from there on that are to be cleared.
  [[nodiscard]] base::status allocate(gc_heap& heap, std::uint64_t granules, gc::grant& given);
  /// Threads of this node wrote these parts of a unit that another node used in between (of lines:
  /// sharing::words_of()). A hint.
  void note_written(gc_heap& heap, std::uint64_t unit, const sharing::word_mask& words);
  /// Waits until something is in the inbox.
  void wait_for_mail(gc_heap& heap) noexcept;
  /// On node 0: types that have numbers.
  [[nodiscard]] unsigned types_of(gc_heap& heap) noexcept;

  // Driver's thread, or before others use the regions.
  void forget(const core::region_description& gone) noexcept;
  void on_restored(const core::region_description& about);

 private:
  [[nodiscard]] gc_heap* find_or_make(std::uint64_t handle);
  [[nodiscard]] gc_directory* directory_of(std::uint64_t handle);
  [[nodiscard]] base::status number_of(gc_heap& heap, bool root, std::string_view name, std::uint64_t layout,
                                       unsigned& number);
  [[nodiscard]] bool borrow(gc_heap& heap, std::uint64_t granules);
  void on_register(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_item(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_borrow(const model::message& m) noexcept;

  core::core& core_;
  /// By region. What is taken away stays to the end, as of programs in error threads may use it.
  std::array<std::atomic<gc_heap*>, core::region_map::max_regions> heaps_{};
  std::mutex making_{};
  std::vector<std::unique_ptr<gc_heap>> all_{};
  std::array<std::atomic<bool>, core::region_map::max_regions> restored_{};
};

}  // namespace quire::api
