// SPDX-License-Identifier: BSD-3-Clause
// quire_hash_map: a hash map as one writes it for threads: shards, each a std::unordered_map in shared memory behind a
// mutex. Each thread of the job counts words of a random sequence. What lies in a page here is what the allocator gave
// out in turn, for whichever shard: the counts tell what that costs where each page can be written by one node at a
// time.
#include <random>
#include <unordered_map>

#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"
#include "common/traffic.hpp"

namespace {

struct settings {
  std::uint64_t operations = 20'000, keys = 10'000, shards = 64;
};

void meet() { quire::barrier{}.arrive_and_wait(); }

using entry = std::pair<const std::uint64_t, std::uint64_t>;

struct shard {
  quire::mutex mutex = quire::mutex::create();
  std::unordered_map<std::uint64_t, std::uint64_t, std::hash<std::uint64_t>, std::equal_to<>, quire::allocator<entry>>
      words;
};

void count_words(const quire::session& job, std::span<shard* const> shards, const settings& wanted) {
  std::mt19937_64 random(static_cast<std::uint64_t>(job.node()) + 1);
  const auto nodes = static_cast<std::uint64_t>(job.nodes()), self = static_cast<std::uint64_t>(job.node());
  for (std::uint64_t i = self; i < wanted.operations; i += nodes) {
    const std::uint64_t key = random() % wanted.keys;
    shard& its = *shards[key % shards.size()];
    const std::scoped_lock guard(its.mutex);
    ++its.words[key];
  }
}

std::uint64_t sum_of(std::span<shard* const> shards) {
  std::uint64_t sum = 0;
  for (shard* const its : shards) {
    const std::scoped_lock guard(its->mutex);
    for (const auto& [key, count] : its->words) sum += count;
  }
  return sum;
}

void run(const settings& wanted) {
  const quire::session job;
  const auto shards = quire::from_node(0, [&] {
    const auto made = quire::make_shared_array<shard*>(wanted.shards);
    for (shard*& each : made) each = quire::new_object<shard>();
    return made;
  });
  bench::samples time("operation", "us");
  meet();
  const bench::traffic counted;
  const std::uint64_t start = bench::now_ns();
  count_words(job, shards, wanted);
  meet();
  time.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(wanted.operations));
  if (job.node() == 0) time.print();
  counted.print("operation", static_cast<double>(wanted.operations));
  if (job.node() == 0 && sum_of(shards) != wanted.operations)
    throw std::runtime_error("words were lost or counted twice");
  meet();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("A sharded hash map that all nodes write. Start it as `quire run -n 2 quire_hash_map`.");
  here.add_number("--operations", wanted.operations, 1, 100'000'000, "of all nodes together");
  here.add_number("--keys", wanted.keys, 1, 100'000'000, "different words");
  here.add_number("--shards", wanted.shards, 1, 65536, "maps, with a lock each");
  return here.run(argc, argv, [&] { run(wanted); });
}
