// SPDX-License-Identifier: BSD-3-Clause
// k-means clustering: each thread has some of the points; the sums of the clusters are one array that all threads add
// up. Threads of one process, without Quire. Run it: threads/k_means [POINTS [THREADS]]
#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <thread>
#include <vector>

#include "parts.hpp"

namespace {

constexpr std::size_t clusters = 12, dimensions = 8;
constexpr int most_rounds = 50;
using point = std::array<double, dimensions>;

/// Point `i`: near the corner of a cube that follows from i.
point make_point(std::size_t i) {
  point p;
  std::uint64_t z = i * 0x9e3779b97f4a7c15 + 12345;
  for (std::size_t d = 0; d < dimensions; ++d) {
    z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9;
    p[d] = static_cast<double>((i % clusters) >> (d % 4) & 1) * 4 + static_cast<double>(z >> 11) / 0x1p51;
  }
  return p;
}

double distance(const point& a, const double* b) {
  double sum = 0;
  for (std::size_t d = 0; d < dimensions; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

/// The centres at the end, and behind them the sum of all distances, by threads that each have some of the points.
/// `add` puts the sums of all threads together.
template <class Add>
std::vector<double> find_centres(std::span<const point> mine, Add&& add) {
  std::vector<double> centres;
  for (std::size_t c = 0; c < clusters; ++c) {
    const point first = make_point(c);
    centres.insert(centres.end(), first.begin(), first.end());
  }
  double before = 0;
  for (int round = 0; round < most_rounds; ++round) {
    std::vector<double> sums(clusters * (dimensions + 1) +
                             1);  // of each cluster the sum of its points and their number; of all the distances
    for (const point& p : mine) {
      std::size_t nearest = 0;
      for (std::size_t c = 1; c < clusters; ++c)
        if (distance(p, &centres[c * dimensions]) < distance(p, &centres[nearest * dimensions])) nearest = c;
      for (std::size_t d = 0; d < dimensions; ++d) sums[nearest * (dimensions + 1) + d] += p[d];
      sums[nearest * (dimensions + 1) + dimensions] += 1;
      sums.back() += distance(p, &centres[nearest * dimensions]);
    }
    add(sums);
    for (std::size_t c = 0; c < clusters; ++c)
      for (std::size_t d = 0; d < dimensions; ++d)
        if (const double n = sums[c * (dimensions + 1) + dimensions]; n != 0)
          centres[c * dimensions + d] = sums[c * (dimensions + 1) + d] / n;
    if (std::abs(sums.back() - before) <= before * 1e-12) break;
    before = sums.back();
  }
  centres.push_back(before);
  return centres;
}

/// Compares with what one thread finds, and tells.
bool check(std::span<const double> centres, std::size_t n, std::chrono::duration<double> took) {
  std::vector<point> points;
  for (std::size_t i = 0; i < n; ++i) points.push_back(make_point(i));
  const auto expected = find_centres(points, [](std::vector<double>&) {});
  double error = 0;
  for (std::size_t i = 0; i < centres.size(); ++i)
    error = std::max(error, std::abs(centres[i] - expected[i]) / (1 + expected[i]));
  const bool right = error < 1e-9;
  std::printf("%zu clusters of %zu points, squared distances of %.3f: %s\n", clusters, n, centres.back(),
              right ? "right" : "wrong");
  std::printf("%.4f s\n", took.count());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  std::vector<double> centres;
  std::chrono::duration<double> took{};
  std::vector<std::vector<double>> sums_of(threads);
  std::barrier barrier(threads);
  const auto work = [&](std::size_t me) {
    const auto mine = part_of(n, me, threads);
    std::vector<point> points;
    for (std::size_t i = mine.first; i < mine.last; ++i) points.push_back(make_point(i));
    barrier.arrive_and_wait();
    const auto start = std::chrono::steady_clock::now();
    auto found = find_centres(points, [&](std::vector<double>& sums) {
      sums_of[me] = sums;
      barrier.arrive_and_wait();
      sums.assign(sums.size(), 0);
      for (const auto& some : sums_of)
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += some[i];
      barrier.arrive_and_wait();  // before anybody writes its sums again
    });
    if (me != 0) return;
    centres = std::move(found);
    took = std::chrono::steady_clock::now() - start;
  };
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i);
  all.clear();  // waits for their ends
  return check(centres, n, took) ? 0 : 1;
}
