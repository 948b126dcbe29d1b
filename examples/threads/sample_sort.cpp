// SPDX-License-Identifier: BSD-3-Clause
// Sorts an array: each thread sorts its block, all agree on where to cut, and each thread merges one range of values.
// Threads of one process, without Quire. Run it: threads/sample_sort [NUMBERS [THREADS]]
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <thread>
#include <vector>

#include "parts.hpp"

namespace {

constexpr std::size_t samples_each = 64;

std::int64_t number_at(std::size_t i) {
  std::uint64_t z = i * 0x9e3779b97f4a7c15 + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return static_cast<std::int64_t>((z ^ (z >> 27)) >> 1);
}

/// What the threads share.
struct team {
  explicit team(std::size_t n) : threads(n), samples(samples_each * n), barrier(static_cast<std::ptrdiff_t>(n)) {}
  std::size_t threads;
  std::vector<std::int64_t> samples;
  std::barrier<> barrier;
};

/// Values that divide all numbers into as many ranges as there are threads.
std::vector<std::int64_t> choose_cuts(team& all, std::size_t me, std::span<const std::int64_t> sorted) {
  for (std::size_t i = 0; i < samples_each && !sorted.empty(); ++i)
    all.samples[me * samples_each + i] = sorted[i * sorted.size() / samples_each];
  all.barrier.arrive_and_wait();
  std::vector<std::int64_t> samples = all.samples;
  std::sort(samples.begin(), samples.end());
  std::vector<std::int64_t> cuts;
  for (std::size_t i = 1; i < all.threads; ++i) cuts.push_back(samples[i * samples_each]);
  return cuts;
}

void sort_all(team& all, std::size_t me, std::span<std::int64_t> numbers, std::span<std::int64_t> result) {
  const auto mine = part_of(numbers.size(), me, all.threads).of(numbers);
  std::sort(mine.begin(), mine.end());
  const auto cuts = choose_cuts(all, me, mine);
  // The values of this thread's range, from all blocks; and how many are below it.
  const auto begin_of = [&](std::span<std::int64_t> block, std::size_t range) {
    if (range == 0) return block.begin();
    return range > cuts.size() ? block.end() : std::lower_bound(block.begin(), block.end(), cuts[range - 1]);
  };
  std::vector<std::int64_t> values;
  std::size_t below = 0;
  for (std::size_t other = 0; other < all.threads; ++other) {
    const auto block = part_of(numbers.size(), other, all.threads).of(numbers);
    const auto first = begin_of(block, me), last = begin_of(block, me + 1);
    below += static_cast<std::size_t>(first - block.begin());
    const auto old = static_cast<std::ptrdiff_t>(values.size());
    values.insert(values.end(), first, last);
    std::inplace_merge(values.begin(), values.begin() + old, values.end());
  }
  std::copy(values.begin(), values.end(), result.begin() + static_cast<std::ptrdiff_t>(below));
}

/// In order, and the same numbers: their sum.
bool check(std::span<const std::int64_t> result, std::chrono::duration<double> took) {
  const std::size_t n = result.size();
  std::size_t difference = 0;
  for (std::size_t i = 0; i < n; ++i)
    difference += static_cast<std::size_t>(result[i]) - static_cast<std::size_t>(number_at(i));
  const bool right = difference == 0 && std::is_sorted(result.begin(), result.end());
  std::printf("%zu numbers, the middle one is %lld: %s\n", n, static_cast<long long>(result[n / 2]),
              right ? "sorted" : "not sorted");
  std::printf("%.4f s\n", took.count());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  std::vector<std::int64_t> numbers(n), result(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = number_at(i);
  team all(threads);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::jthread> running;
  for (unsigned i = 0; i < threads; ++i) running.emplace_back([&, i] { sort_all(all, i, numbers, result); });
  running.clear();  // waits for their ends
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return check(result, took) ? 0 : 1;
}
