// SPDX-License-Identifier: BSD-3-Clause
// The heat equation on a square plate: hot on one side, cold on the others.
// Threads of one process, without Quire. Run it: threads/heat [STEPS [SIZE [THREADS]]]
#include <algorithm>
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

void step(std::span<const double> now, std::span<double> next, std::size_t size, index_range rows) {
  for (std::size_t y = std::max<std::size_t>(rows.first, 1); y < std::min(rows.last, size - 1); ++y)
    for (std::size_t x = 1; x + 1 < size; ++x) {
      const std::size_t i = y * size + x;
      next[i] = now[i] + 0.2 * (now[i - 1] + now[i + 1] + now[i - size] + now[i + size] - 4 * now[i]);
    }
}

void warm_up(std::span<double> a, std::size_t size, index_range rows) {
  for (std::size_t y = rows.first; y < rows.last; ++y)
    for (std::size_t x = 0; x < size; ++x) a[y * size + x] = y == 0 ? 100 : 0;
}

/// Compares with what one thread computes, and tells.
bool check(std::span<const double> result, std::size_t size, int steps, std::chrono::duration<double> took) {
  std::vector<double> a(size * size), b(size * size);
  warm_up(a, size, {0, size}), warm_up(b, size, {0, size});
  for (int i = 0; i < steps; ++i) step(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, size, {0, size});
  const bool right = std::equal(result.begin(), result.end(), (steps % 2 == 0 ? a : b).begin());
  std::printf("%d steps; near the hot side of %zu x %zu it has %.4f degrees: %s\n", steps, size, size,
              result[3 * size + size / 2], right ? "right" : "wrong");
  std::printf("%.4f s\n", took.count());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::size_t size = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 256;
  const unsigned threads = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 2;
  std::vector<double> first(size * size), second(size * size);
  std::chrono::duration<double> took{};
  std::barrier barrier(threads);
  const auto work = [&](std::size_t me) {
    const auto rows = part_of(size, me, threads);
    warm_up(first, size, rows), warm_up(second, size, rows);
    barrier.arrive_and_wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) {
      step(i % 2 == 0 ? first : second, i % 2 == 0 ? second : first, size, rows);
      barrier.arrive_and_wait();
    }
    if (me == 0) took = std::chrono::steady_clock::now() - start;
  };
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i);
  all.clear();  // waits for their ends
  return check(steps % 2 == 0 ? first : second, size, steps, took) ? 0 : 1;
}
