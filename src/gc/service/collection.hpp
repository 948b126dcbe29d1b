// SPDX-License-Identifier: BSD-3-Clause
// A collection under way, as a node sees it: gc_collect.cpp, which has its steps; gc_move.cpp has those by which
// objects move. Application thread.
#pragma once

#include <quire/gc.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "gc/service/heaps.hpp"
#include "base/fault_heap.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/kept_run.hpp"
#include "gc/ending.hpp"
#include "gc/marker.hpp"
#include "services/collection_call.hpp"

namespace quire::api {

class collection final : gc::outlet {
 public:
  collection(gc_service& gc, core::core& core, bool moves, gc_heap& heap)
      : gc_(gc),
        core_(core),
        moves_(moves),
        heap_(heap),
        self_(core_.config.self.value()),
        leader_(core_.config.nodes) {}

  /// What private memory is short for later on ends the node: others wait for it.
  quire_status run(quire_gc_statistics& result) noexcept;

 private:
  struct word_change {
    std::uint64_t at = 0, value = 0;  ///< an address, and what it has to be
  };

  void load_types(unsigned count);
  quire_status close();
  quire_status does(services::collection_call::work what, quire_gc_statistics& result);
  quire_status hold();
  quire_status keep();
  quire_status prepare();
  quire_status read_away(const core::kept_run& run);
  quire_status mark();
  quire_status find_live();
  quire_status plan_moves();
  quire_status move();
  template <class F>
  quire_status write(F f);  // gc_move.cpp
  void let_go() noexcept;

  void add_roots();
  void gather_evidence();
  void make_wishes();
  void place(const gc::live_object& what);
  void give_back_rest();
  void gather_changes();
  void copy(const gc::forwarding::move& one);
  void complain() const;
  quire_status sum_up(quire_gc_statistics& result);

  // Messages.
  void send(unsigned node, gc::item what, std::span<const std::byte> content) override;
  void tell(unsigned node, gc::item what, std::uint64_t number, std::span<const std::byte> content);
  void push();
  [[nodiscard]] bool look_into_inbox();
  void take(const gc_parcel& p);
  void on_answer(const gc::wave_member::answer& a);
  quire_status settle();
  quire_status sum(std::span<std::int64_t> values) {
    return quire_reduce_i64(values.data(), static_cast<std::uint32_t>(values.size()), QUIRE_SUM);
  }

  gc_service& gc_;
  core::core& core_;
  const bool moves_;
  gc_heap& heap_;
  const unsigned self_;
  core::region_slot* region_ = nullptr;
  gc::type_table types_{};
  std::map<unsigned, decltype(gc::type_record::name)>
      names_{};  ///< nobody may look into the directory while content is held
  gc::memory content_{};
  std::vector<std::vector<std::byte>> copies_{};  ///< of units that are not in memory
  std::optional<gc::marker> marker_{};
  gc::wave_member member_{};
  gc::wave_leader leader_;
  bool marked_ = false;
  unsigned type_count_ = 0;
  gc::evidence evidence_{};
  gc::run_grant span_{};  ///< where objects that move here go
  std::uint64_t span_at_ = 0;
  gc::forwarding moved_{};                        ///< of all nodes
  std::vector<gc::forwarding::move> arrivals_{};  ///< to this node's slice
  std::vector<word_change> changes_{};
  std::vector<gc_parcel> out_{};
  std::vector<unsigned> out_to_{};
  base::fault_vector<gc_parcel> mail_{};
  std::uint64_t messages_ = 0, freed_ = 0, begin_ns_ = 0, held_ns_ = 0, pause_ns_ = 0;
};

}  // namespace quire::api
