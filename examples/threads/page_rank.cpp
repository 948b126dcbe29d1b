// SPDX-License-Identifier: BSD-3-Clause
// PageRank of a graph: each thread has the links into a block of pages, and reads the ranks of all pages, which all
// share. Threads of one process, without Quire. Run it: threads/page_rank [PAGES [THREADS]]
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "parts.hpp"

namespace {

constexpr double damping = 0.85;
constexpr int iterations = 20;

/// Page p links to a few others; every 50th to none.
template <class F>
void for_each_link(std::size_t p, std::size_t pages, F&& to) {
  if (p % 50 == 49) return;
  for (std::size_t i = 1; i <= 3 + p % 5; ++i) to((p * 31 + i * i * 17) % pages);
}

/// The links into pages first .. last: only that part of the graph is in this thread's memory.
struct links_into {
  links_into(index_range mine, std::size_t pages) : from(mine.size()), links(pages) {
    for (std::size_t p = 0; p < pages; ++p) {
      for_each_link(p, pages, [&](std::size_t to) {
        ++links[p];
        if (to >= mine.first && to < mine.last) from[to - mine.first].push_back(static_cast<std::uint32_t>(p));
      });
    }
  }
  std::vector<std::vector<std::uint32_t>> from;
  std::vector<std::uint32_t> links;  ///< that leave each page
};

/// What pages without links give to all.
double lost_rank(std::span<const double> rank, const links_into& graph, index_range mine) {
  double sum = 0;
  for (std::size_t p = mine.first; p < mine.last; ++p)
    if (graph.links[p] == 0) sum += rank[p];
  return sum;
}

void iterate(std::span<const double> rank, std::span<double> next, const links_into& graph, index_range mine,
             double lost) {
  const auto n = static_cast<double>(rank.size());
  for (std::size_t p = mine.first; p < mine.last; ++p) {
    double sum = 0;
    for (const std::uint32_t from : graph.from[p - mine.first]) sum += rank[from] / graph.links[from];
    next[p] = (1 - damping) / n + damping * (sum + lost / n);
  }
}

/// Compares with the ranks that one thread computes, and tells.
bool check(std::span<const double> rank, std::chrono::duration<double> took) {
  const index_range whole{0, rank.size()};
  const links_into graph(whole, rank.size());
  std::vector<double> here(rank.size(), 1.0 / static_cast<double>(rank.size())), there(rank.size());
  for (int i = 0; i < iterations; ++i, std::swap(here, there))
    iterate(here, there, graph, whole, lost_rank(here, graph, whole));
  double error = 0;
  for (std::size_t p = 0; p < rank.size(); ++p) error = std::max(error, std::abs(here[p] - rank[p]) / here[p]);
  const bool right = error < 1e-9;
  std::printf("ranks of %zu pages, the largest is %.9f: %s\n", rank.size(), *std::max_element(rank.begin(), rank.end()),
              right ? "right" : "wrong");
  std::printf("%.4f s\n", took.count());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t pages = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  std::vector<double> rank(pages), next(pages);
  std::vector<double> lost_ranks(threads);
  std::chrono::duration<double> took{};
  std::barrier barrier(threads);
  const auto work = [&](std::size_t me) {
    const auto mine = part_of(pages, me, threads);
    const links_into graph(mine, pages);
    std::span<double> here = rank, there = next;
    for (std::size_t p = mine.first; p < mine.last; ++p) here[p] = 1.0 / static_cast<double>(pages);
    barrier.arrive_and_wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i, std::swap(here, there)) {
      lost_ranks[me] = lost_rank(here, graph, mine);
      barrier.arrive_and_wait();
      const double lost = std::accumulate(lost_ranks.begin(), lost_ranks.end(), 0.0);
      iterate(here, there, graph, mine, lost);
      barrier.arrive_and_wait();  // before anybody writes its part of the sum again
    }
    if (me == 0) took = std::chrono::steady_clock::now() - start;
  };
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i);
  all.clear();  // waits for their ends
  return check(rank, took) ? 0 : 1;
}
