// SPDX-License-Identifier: BSD-3-Clause
// The crew of a simulated node: what is begun is done at a moment that chance decides, whatever was begun before, and
// is told at a later one. It may fail to write, or to sync. Complains where two would be at the same content at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network.hpp"
#include "store/io.hpp"

namespace quire::whole {

class node;
class world;

/// A store that loses what it has taken since its last good sync, when one fails.
class losing {
 public:
  virtual void lose() = 0;

 protected:
  ~losing() = default;
};

class chance_crew final : public store::crew {
 public:
  chance_crew(world& w, node& of) : world_(w), node_(of) {}

  void begin(store::io& o) noexcept override;
  [[nodiscard]] store::io* take_done() noexcept override;
  void finish(store::io& o) noexcept override;

  /// From now on it tells that something is done before it is: a test breaks it.
  void tell_early() noexcept { early_ = true; }
  struct counts {
    std::uint64_t fills = 0, flushes = 0, failed = 0, awaited = 0;
  };
  [[nodiscard]] const counts& count() const noexcept { return count_; }

 private:
  struct task {
    store::io* what = nullptr;
    std::uint64_t number = 0;
    bool performed = false, told = false;
  };
  [[nodiscard]] task* find(std::uint64_t number) noexcept;
  void later(void (chance_crew::*step)(task&), std::uint64_t number, sim::time_ns longest);
  void perform(task& t);
  void tell(task& t);
  void complain_if_beside(const store::io& o);

  world& world_;
  node& node_;
  std::vector<task> tasks_{};  ///< not both performed and told
  store::io* first_ = nullptr;
  store::io* last_ = nullptr;
  std::uint64_t last_number_ = 0;
  bool early_ = false;
  counts count_{};
};

}  // namespace quire::whole
