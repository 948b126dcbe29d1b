// SPDX-License-Identifier: BSD-3-Clause
// IS on Quire. The counts lie in shared memory; keys are private to the thread that ranks them. A section of the counts
// goes from worker to worker as each adds its own.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

#include <fmt/format.h>
#include <quire/quire.hpp>

#include "common/crew.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "is/kernel.hpp"
#include "is/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = is::parse(argc, argv, "quire");
  apps::require_filled_pages(wanted, wanted.minipage_bytes());
  quire::session job;
  const auto counts = quire::from_node(0, [&] {
    const std::size_t values = wanted.problem.values(), minipage = wanted.minipage_bytes();
    return minipage != 0 ? apps::make_array_in_minipages<is::count>(wanted, wanted.sharing, values, minipage)
                         : apps::make_shared_array<is::count>(wanted, values);
  });
  std::vector<is::count*> apart;
  if (wanted.minipage_bytes() != 0) apart = apps::pieces_apart(counts, is::shared_counts::piece);
  const is::shared_counts shared{counts, apart, wanted.sharing.composed};

  auto result = is::begin_report(wanted, "quire");
  apps::progress shown("is", is::iterations, wanted.progress && job.node() == 0);
  std::vector<is::part> keys(static_cast<std::size_t>(wanted.threads));
  int wrong = 0;
  apps::crew(wanted, {counts})
      .run(
          result, [&](auto& me) { keys[me.thread()] = is::make_keys(wanted.problem, me.number(), me.count()); },
          [&](auto& me) {
            const bool first = me.thread() == 0;
            const int found = is::rank_again_and_again(me, wanted.problem, keys[me.thread()], shared, [&](int done) {
              if (first) shown.show(static_cast<std::size_t>(done));
            });
            if (first) wrong = found;
          });
  return quire::broadcast(job.node() == 0 ? is::finish(wanted, result, counts, wrong) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "is: {}\n", e.what());
  return 1;
}
