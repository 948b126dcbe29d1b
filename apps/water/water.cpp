// SPDX-License-Identifier: BSD-3-Clause
// WATER on Quire. Each molecule is an object in shared memory with a mutex of its own; node 0 makes them, and workers
// own them in blocks. Molecules are smaller than a page: neighbours that two nodes own share one, unless each is a
// minipage.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <quire/quire.hpp>

#include "common/crew.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "water/kernel.hpp"
#include "water/settings.hpp"

namespace {

struct shared_liquid {
  std::span<water::molecule*> molecules;
  std::span<quire::mutex> locks;
};

shared_liquid make(const water::settings& wanted) {
  const shared_liquid made{quire::make_shared_array<water::molecule*>(wanted.molecules),
                           quire::make_shared_array<quire::mutex>(wanted.molecules)};
  if (wanted.sharing.chunk != 0) {
    apps::make_in_minipages(wanted, wanted.sharing, wanted.molecules, sizeof(water::molecule),
                            [&](std::size_t i, void* place) { made.molecules[i] = ::new (place) water::molecule; });
  } else {
    auto options = apps::array_region(wanted, 0);
    options.heap = true;
    const auto memory = quire::region::create(4 * wanted.molecules * sizeof(water::molecule) + (1 << 20), options);
    for (auto& m : made.molecules) m = memory.make<water::molecule>();
  }
  for (auto& lock : made.locks) lock = quire::mutex::create();
  return made;
}

/// A node's copy of the handles.
class locks {
 public:
  explicit locks(std::span<const quire::mutex> all) : all_(all.begin(), all.end()) {}
  [[nodiscard]] std::unique_lock<quire::mutex> of(std::size_t molecule) { return std::unique_lock(all_[molecule]); }

 private:
  std::vector<quire::mutex> all_;
};

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = water::parse(argc, argv, "quire");
  quire::session job;
  const auto shared = quire::from_node(0, [&] { return make(wanted); });
  const std::vector<water::molecule*> molecules(shared.molecules.begin(), shared.molecules.end());
  std::vector<water::molecule*> in_turn;
  if (wanted.sharing.composed)
    for (auto* const m : molecules) in_turn.push_back(apps::seen_in(QUIRE_NATURAL, m));
  const water::liquid all{molecules, water::box_of(wanted.molecules), in_turn};
  locks own(shared.locks);

  auto result = water::begin_report(wanted, "quire");
  apps::progress shown("water", static_cast<std::size_t>(wanted.steps), wanted.progress && job.node() == 0);
  water::outcome found;
  apps::crew(wanted).run(
      result, [&](auto& me) { water::mover(me, all, own).place_own(); },
      [&](auto& me) {
        const bool first = me.thread() == 0;
        const auto outcome = water::simulate(me, all, own, wanted.steps, [&](int done) {
          if (first) shown.show(static_cast<std::size_t>(done));
        });
        if (first) found = outcome;
      });
  return quire::broadcast(job.node() == 0 ? water::finish(wanted, result, found) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "water: {}\n", e.what());
  return 1;
}
