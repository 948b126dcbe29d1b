// SPDX-License-Identifier: BSD-3-Clause
// quire_arrays: a stencil over three arrays of a node's own, us a pass: in regions, as programs make them; in private
// memory; and in private memory at 64 MiB from each other, which is how regions would lie if each began where a granule
// of addresses does. One node.
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

constexpr std::size_t granule = 64u << 20;

struct settings {
  std::uint64_t side = 1024;
  std::uint64_t rounds = 60;
};

using arrays = std::array<double*, 3>;

/// As Helmholtz does: a copy, then five points of one array and one of another for each of the third.
[[gnu::noinline]] double pass(const arrays& a, std::size_t side) {
  double* __restrict result = a[0];
  double* __restrict old = a[1];
  const double* __restrict right = a[2];
  std::memcpy(old, result, side * side * sizeof *old);
  double sum = 0;
  for (std::size_t row = 1; row + 1 < side; ++row) {
    for (std::size_t at = row * side + 1; at + 1 < (row + 1) * side; ++at) {
      const double residual =
          ((old[at - 1] + old[at + 1]) + (old[at - side] + old[at + side]) - 4.1 * old[at] - right[at]) / -4.1;
      result[at] = old[at] - 0.9 * residual;
      sum += residual * residual;
    }
  }
  return sum;
}

arrays in_regions(std::size_t count) {
  arrays a;
  for (double*& one : a) one = quire::region::create(count * sizeof(double), {}).span<double>().data();
  return a;
}
/// Never given back.
arrays in_private_memory(std::size_t count, std::size_t distance) {
  void* const at = ::mmap(nullptr, 3 * distance + granule, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED || count * sizeof(double) > distance) throw std::runtime_error("no memory for the arrays");
  auto* const first = static_cast<double*>(at);
  const std::size_t step = distance / sizeof(double);
  return {first, first + step, first + 2 * step};
}

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes(job, 1);
  const std::size_t count = wanted.side * wanted.side, bytes = count * sizeof(double);
  struct place {
    arrays at;
    bench::samples found;
  };
  std::array<place, 3> places{
      {{in_regions(count), {"regions", "us"}},
       {in_private_memory(count, bytes + 17 * bench::page_bytes), {"private", "us"}},
       {in_private_memory(count, (bytes + granule - 1) / granule * granule), {"private_64_MiB_apart", "us"}}}};
  for (const place& p : places)
    for (std::size_t i = 0; i < count; ++i) p.at[0][i] = p.at[1][i] = 0, p.at[2][i] = static_cast<double>(i % 97);
  double sum = 0;
  for (std::uint64_t round = 0; round < wanted.rounds; ++round)
    for (place& p : places) p.found.time([&] { sum += pass(p.at, wanted.side); });
  if (!(sum > 0)) throw std::runtime_error("the result is wrong");
  for (const place& p : places) p.found.print();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "A stencil over three arrays: in regions, in private memory, and there at 64 MiB from each other; us a pass.");
  here.add_number("--side", wanted.side, 16, 1 << 14, "rows and columns of each array");
  here.add_number("--rounds", wanted.rounds, 1, 1 << 20, "passes over each");
  return here.run(argc, argv, [&] { run(wanted); });
}
