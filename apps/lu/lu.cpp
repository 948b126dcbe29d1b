// SPDX-License-Identifier: BSD-3-Clause
// LU on Quire. The matrix lies in shared memory, block by block; each worker writes its own blocks. In every step the
// row and the column of blocks that the step has finished go to all who need them.
#include <cstddef>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <quire/quire.hpp>

#include "common/crew.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/shared_array.hpp"
#include "lu/kernel.hpp"
#include "lu/settings.hpp"

int main(int argc, char** argv) try {
  const auto wanted = lu::parse(argc, argv, "quire");
  quire::session job;
  const lu::matrix a{quire::from_node(0, [&] { return apps::make_shared_array(wanted, wanted.size * wanted.size); }),
                     wanted.size, wanted.edge};

  auto result = lu::begin_report(wanted, "quire");
  apps::progress shown("lu", a.blocks(), wanted.progress && job.node() == 0);
  apps::crew(wanted, {a.elements})
      .run(
          result, [&](auto& me) { lu::fill(me, a); },
          [&](auto& me) {
            lu::factorise(me, a, [&](std::size_t done) {
              if (me.thread() == 0) shown.show(done);
            });
          });
  return quire::broadcast(job.node() == 0 ? lu::finish(wanted, result, a) : 0);
} catch (const std::exception& e) {
  fmt::print(stderr, "lu: {}\n", e.what());
  return 1;
}
