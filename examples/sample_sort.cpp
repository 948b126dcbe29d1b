// SPDX-License-Identifier: BSD-3-Clause
// Sorts an array that all nodes share: each thread sorts its block, all agree on where to cut, and each thread merges
// one range of values. Run it: quire run -n 2 sample_sort [NUMBERS [THREADS of a node]]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <quire/quire.hpp>

namespace {

constexpr std::size_t samples_each = 64;

std::int64_t number_at(std::size_t i) {
  std::uint64_t z = i * 0x9e3779b97f4a7c15 + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return static_cast<std::int64_t>((z ^ (z >> 27)) >> 1);
}

/// Values that divide all numbers into as many ranges as there are threads.
std::vector<std::int64_t> choose_cuts(quire::member& me, std::span<const std::int64_t> sorted) {
  std::vector<std::int64_t> samples(samples_each *
                                    me.count());  // each thread fills in its part, and a sum puts them together
  for (std::size_t i = 0; i < samples_each && !sorted.empty(); ++i)
    samples[me.number() * samples_each + i] = sorted[i * sorted.size() / samples_each];
  me.reduce(std::span(samples), quire::operation::sum);
  std::sort(samples.begin(), samples.end());
  std::vector<std::int64_t> cuts;
  for (std::size_t i = 1; i < me.count(); ++i) cuts.push_back(samples[i * samples_each]);
  return cuts;
}

void sort_all(quire::member& me, std::span<std::int64_t> numbers, std::span<std::int64_t> result) {
  const auto mine = me.my_part(numbers.size()).of(numbers);
  std::sort(mine.begin(), mine.end());
  const auto cuts = choose_cuts(me, mine);
  // The values of this thread's range, from all blocks; and how many are below it.
  const auto begin_of = [&](std::span<std::int64_t> block, std::size_t range) {
    if (range == 0) return block.begin();
    return range > cuts.size() ? block.end() : std::lower_bound(block.begin(), block.end(), cuts[range - 1]);
  };
  std::vector<std::int64_t> values;
  std::size_t below = 0;
  for (std::size_t other = 0; other < me.count(); ++other) {
    const auto block = quire::part_of(numbers.size(), other, me.count()).of(numbers);
    const auto first = begin_of(block, me.number()), last = begin_of(block, me.number() + 1);
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
  quire::session job;
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  const auto make = [n] {
    return quire::region::create(n * sizeof(std::int64_t),
                                 {.consistency = quire::consistency::release, .unit_bytes = 65536})
        .span<std::int64_t>()
        .first(n);
  };
  const auto numbers = quire::from_node(0, make), result = quire::from_node(0, make);
  quire::team all(threads);
  all.for_each(n, [&](std::size_t i) { numbers[i] = number_at(i); });
  const auto start = std::chrono::steady_clock::now();
  all.run([&](quire::member& me) { sort_all(me, numbers, result); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const bool right = job.node() != 0 || check(result, took);
  return quire::broadcast(right) ? 0 : 1;
}
