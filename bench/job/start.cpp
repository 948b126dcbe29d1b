// SPDX-License-Identifier: BSD-3-Clause
// quire_start: a job that starts, touches a page of a region on every node, and ends. run.py measures how long all of
// `quire run -n 2 quire_start` takes; what the program prints is the part that the start itself takes on node 0.
#include <quire/quire.hpp>

#include <optional>

#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

void run(std::uint64_t region_bytes) {
  bench::samples start("session", "us");
  std::optional<quire::session> job;
  start.time([&] { job.emplace(); });
  if (region_bytes != 0) {
    const auto memory = quire::from_node(0, [&] { return quire::region::create(region_bytes); });
    memory.span<std::byte>()[static_cast<std::size_t>(job->node()) * 4096] = std::byte{1};
  }
  if (job->node() == 0) start.print();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t region_bytes = 0;
  bench::program here("The start and end of a job. Start it as `quire run -n 2 quire_start`.");
  here.add_size("--region", region_bytes, "make a region of this size, such as 64GB (0: none)");
  return here.run(argc, argv, [&] { run(region_bytes); });
}
