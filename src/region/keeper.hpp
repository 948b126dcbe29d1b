// SPDX-License-Identifier: BSD-3-Clause
// Regions come and go. Both are requests to node 0, which numbers regions, hands out addresses, and answers when every
// node has a region (keeper.cpp), or none has anything of it any more (keeper_end.cpp). Nobody else has to take part:
// no thread of another node calls.
#pragma once

#include <quire/quire.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/fault_heap.hpp"
#include "base/status.hpp"
#include "core/core.hpp"
#include "core/region_rest.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"
#include "region/space.hpp"

namespace quire::region {

class keeper {
 public:
  explicit keeper(core::core& e) : core_(e), numbers_(core::region_map::max_regions) {}
  /// Answers the services of regions, whose addresses are from `base` on, and whose numbers from `first` on. Before the
  /// engine starts.
  void open(std::uint64_t base, std::uint16_t first = 1);

  // Application threads.
  /// `backing`: as core::region_description; the nodes have been offered their stores.
  [[nodiscard]] base::status create(const quire_region_options& options, std::uint64_t bytes, quire_region& region,
                                    std::uint16_t backing = 0);
  [[nodiscard]] base::status destroy(quire_region region);
  /// The same of an adopted region: nothing can be accessed at its addresses then, on any node.
  [[nodiscard]] base::status disown(quire_region region);
  /// What a module of code needs (src/code): regions for what is run and for what is written, whose distance is given.
  struct code_regions {
    quire_region_options options{};  ///< of the data; pool and detector, of both
    std::uint64_t code_bytes = 0;    ///< from the first address on
    std::uint64_t gap_bytes = 0;     ///< behind the code; whole pages
    std::uint64_t data_bytes = 0;    ///< behind the gap
    std::uint64_t rest_bytes = 0;    ///< addresses behind the data
  };
  struct made_for_code {
    quire_region code{}, data{};
    std::uint64_t base = 0;
  };
  /// All units of both start at this node. The addresses of gap and rest are reserved, and go with the code: destroy
  /// the data first.
  [[nodiscard]] base::status create_for_code(const code_regions& what, made_for_code& made);
  /// A region at addresses outside of the range, whose units all start at node `home`. What was mapped there is
  /// replaced on every node.
  [[nodiscard]] base::status adopt(const quire_region_options& options, std::uint64_t base, std::uint64_t bytes,
                                   int home, quire_region& region);
  /// Whether adopt() could be asked for that, as far as this node knows.
  [[nodiscard]] base::status may_adopt(const quire_region_options& options, std::uint64_t base, std::uint64_t bytes,
                                       int home) const;

  /// `tell` is called on every node for each region that has been made there, or that has gone. Driver's thread. Before
  /// the engine starts.
  void when_made(void (*tell)(void*, const core::region_description&), void* context) {
    makers_.push_back({tell, context});
  }
  void when_gone(void (*tell)(void*, const core::region_description&) noexcept, void* context) {
    listeners_.push_back({tell, context});
  }

  // Checkpoints. `saved` means something on node 0.
  struct saved {
    std::uint64_t next_base = 0, next_id = 1, gone = 0;
  };
  [[nodiscard]] saved save();
  /// Goes on from there, with these regions, which are made already.
  void load(const saved& from, std::span<const core::region_description> regions);
  [[nodiscard]] bool is_used();

 private:
  /// What node 0 tells all, and they answer.
  enum class step : std::uint32_t {
    begin,    ///< a region is about to go, if nothing is against it
    give_up,  ///< it stays
    look,     ///< what was sent and received of it?
    finish,   ///< it goes
  };
  /// Travels as it is.
  struct order {
    step what = step::begin;
    std::uint32_t life = 0;
    std::uint64_t id = 0;
    core::stays why = core::stays::no;  ///< answer to `begin`
    core::region_rest rest{};           ///< answer to `look`
  };
  /// All nodes are asked something about a region, of node 0.
  struct question {
    model::message request{};
    unsigned left = 0;
    std::uint64_t answered = 0;  ///< by node, of the first 64
    base::status why{};          ///< of a region that cannot be made
    core::region_description about{};
    // Of one that goes.
    bool ends = false;
    step at = step::begin;
    core::stays stays = core::stays::no;
    bool quiet = false, before_was_quiet = false;
    std::uint64_t sent = 0, received = 0, received_before = 0, dead = 0, dead_before = 0;
  };

  // keeper.cpp
  [[nodiscard]] base::status check(const char* call, const quire_region_options& options, std::uint64_t bytes) const;
  [[nodiscard]] base::status ask_for(core::region_description about, quire_region& region);
  [[nodiscard]] bool find_place(core::region_description& about);
  void on_create(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_announce(std::span<const std::byte> value) noexcept;
  void on_added(const model::message& m) noexcept;
  void ask_all(question& q);
  void on_answer(question& q, unsigned node);
  void on_death(unsigned node);
  [[nodiscard]] base::status add(const core::region_description& about);
  void tell_regions(model::node_id to) noexcept;
  void learn_region(bool ends, std::span<const std::byte> value) noexcept;
  void all_have_added(question& q);
  void tell_all(std::uint32_t service, std::span<const std::byte> value);

  // keeper_end.cpp
  void open_end();
  [[nodiscard]] base::status end(quire_region region, const char* call);
  void on_destroy(const model::message& m) noexcept;
  void tell_step(question& q, step what);
  void on_step(const model::message& m, std::span<const std::byte> value) noexcept;
  void on_step_done(const model::message& m, std::span<const std::byte> value) noexcept;
  void all_have_done(question& q);
  void note_rest(question& q, const order& o) noexcept;
  [[nodiscard]] static bool is_over(question& q) noexcept;
  void finish_here(core::region_slot& r);
  void go_on_without_leader();

  struct maker {
    void (*tell)(void*, const core::region_description&);
    void* context;
  };
  struct listener {
    void (*tell)(void*, const core::region_description&) noexcept;
    void* context;
  };
  core::core& core_;
  std::vector<maker> makers_{};
  std::vector<listener> listeners_{};
  std::uint16_t first_ = 1;  ///< number of the first region that is made by a call
  unsigned transfer_ = 0;    ///< of survivor::add()
  // On node 0 only, driver's thread:
  address_space space_{};
  numbers numbers_;
  std::uint32_t gone_ = 0;  ///< regions, so far
  base::fault_map<std::uint16_t, question> questions_{};
};

}  // namespace quire::region
