// SPDX-License-Identifier: BSD-3-Clause
// Estimates pi on all nodes, and goes on when nodes are lost: quire run -n 4 --on-failure notify survivors [NODE]
// With an argument, that node kills itself half way.
//
// Each round is cut into shares by who took part in the one before. The sum at its end tells all survivors the same:
// what was counted, and who took part in it. If somebody did not, the round is done again without him.
#include <quire/quire.hpp>

#include <signal.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>

namespace {

constexpr int rounds = 40;
constexpr std::int64_t points_a_round = 1'000'000;

/// Points of a share that fall into the circle.
std::int64_t count_inside(int round, int share, std::int64_t points) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(round * 64 + share));
  std::uniform_real_distribution<double> side(0, 1);
  std::int64_t inside = 0;
  for (std::int64_t i = 0; i < points; ++i) {
    const double x = side(draw), y = side(draw);
    if (x * x + y * y < 1) ++inside;
  }
  return inside;
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const int dies = argc > 1 ? std::atoi(argv[1]) : -1;
  if (dies >= 0)
    quire::on_failure(
        [](int node, void*) { std::printf("node %d hears that node %d is lost\n", quire::node(), node); });
  const std::uint64_t mine = std::uint64_t{1} << job.node();
  std::uint64_t members = ~std::uint64_t{0} >> (64 - job.nodes());  // a bit for each node
  std::int64_t inside = 0, done_again = 0;
  for (int round = 0; round < rounds;) {
    if (round == rounds / 2 && job.node() == dies) ::raise(SIGKILL);
    const int shares = std::popcount(members), share = std::popcount(members & (mine - 1));
    std::int64_t sums[] = {count_inside(round, share, points_a_round / shares), static_cast<std::int64_t>(mine)};
    quire::all_reduce(std::span<std::int64_t>(sums), quire::operation::sum);
    const auto took_part = static_cast<std::uint64_t>(sums[1]);
    if (took_part == members) {
      inside += sums[0];
      ++round;
    } else {
      members = took_part;
      ++done_again;
    }
  }
  const double pi = 4.0 * static_cast<double>(inside) / static_cast<double>(rounds * points_a_round);
  if ((members & (mine - 1)) == 0)  // the first of them
    std::printf("%d of %d nodes: pi is about %.4f; %d rounds done again\n", std::popcount(members), job.nodes(), pi,
                static_cast<int>(done_again));
  return std::abs(pi - 3.14159) < 0.01 ? 0 : 1;
}
