// SPDX-License-Identifier: BSD-3-Clause
// Sorts an array that all nodes share: each thread sorts its block, all agree on where to cut, and each thread merges one range of values.
// Run it: quire run -n 2 sample_sort [NUMBERS]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <quire/quire.hpp>

namespace {

constexpr std::size_t samples_each = 64;

std::uint64_t number_at(std::size_t i) {  // the same on all nodes
  std::uint64_t z = i * 0x9e3779b97f4a7c15 + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return (z ^ (z >> 27)) >> 1;
}

/// Values that divide all numbers into as many ranges as there are threads.
std::vector<std::int64_t> choose_cuts(quire::member& me, std::span<const std::uint64_t> sorted) {
  std::vector<std::int64_t> samples(samples_each * me.count());  // each thread fills in its part, and a sum puts them together
  for (std::size_t i = 0; i < samples_each && !sorted.empty(); ++i)
    samples[me.number() * samples_each + i] = static_cast<std::int64_t>(sorted[i * sorted.size() / samples_each]);
  me.reduce(std::span(samples), quire::operation::sum);
  std::sort(samples.begin(), samples.end());
  std::vector<std::int64_t> cuts;
  for (std::size_t i = 1; i < me.count(); ++i) cuts.push_back(samples[i * samples_each]);
  return cuts;
}

void sort_all(quire::member& me, std::span<std::uint64_t> numbers, std::span<std::uint64_t> result) {
  const auto mine = me.my_part(numbers.size()).of(numbers);
  std::sort(mine.begin(), mine.end());
  const auto cuts = choose_cuts(me, mine);
  // The values of this thread's range, from all blocks; and how many are below it.
  const auto begin_of = [&](std::span<std::uint64_t> block, std::size_t range) {
    if (range == 0) return block.begin();
    return range > cuts.size() ? block.end() : std::lower_bound(block.begin(), block.end(), static_cast<std::uint64_t>(cuts[range - 1]));
  };
  std::vector<std::uint64_t> values;
  std::size_t below = 0;
  for (std::size_t other = 0; other < me.count(); ++other) {
    const auto block = quire::part_of(numbers.size(), other, me.count()).of(numbers);
    const auto first = begin_of(block, me.number()), last = begin_of(block, me.number() + 1);
    below += static_cast<std::size_t>(first - block.begin());
    values.insert(values.end(), first, last);
  }
  std::sort(values.begin(), values.end());
  std::copy(values.begin(), values.end(), result.begin() + static_cast<std::ptrdiff_t>(below));
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
  const auto make = [n] {
    return quire::region::create(n * sizeof(std::uint64_t), {.consistency = quire::consistency::release, .unit_bytes = 65536}).span<std::uint64_t>().first(n);
  };
  const auto numbers = quire::from_node(0, make), result = quire::from_node(0, make);
  bool right = true;
  quire::team all(2);
  all.run([&](quire::member& me) {
    const auto mine = me.my_part(n);
    for (std::size_t i = mine.first; i < mine.last; ++i) numbers[i] = number_at(i);
    sort_all(me, numbers, result);
    me.wait();
    // In order, also with the block before, and the same numbers: their sum.
    bool good = std::is_sorted(result.begin() + static_cast<std::ptrdiff_t>(mine.first == 0 ? 0 : mine.first - 1), result.begin() + static_cast<std::ptrdiff_t>(mine.last));
    std::int64_t difference = 0;
    for (std::size_t i = mine.first; i < mine.last; ++i) difference += static_cast<std::int64_t>(result[i] % 1000003) - static_cast<std::int64_t>(number_at(i) % 1000003);
    good = me.sum(difference) == 0 && good;
    if (me.sum(good ? 0 : 1) != 0) right = false;
  });
  if (job.node() == 0) std::printf("%zu numbers: %s\n", n, right ? "sorted" : "not sorted");
  return right ? 0 : 1;
}
