// SPDX-License-Identifier: BSD-3-Clause
// Contract of memory with units below a page that is larger than what nodes may have in memory (QUIRE_MEMORY_LIMIT):
// pages leave with all their minipages, to the page-out file, and come back as they were. By the word on the command
// line:
//   disk     a static layout, more than all limits together: neighbours of a page are written by different nodes and
//            read by either view
//   heap     objects of several sizes in a heap with views, the same
//   mixed    threads write, read, pin and operate at random, by either view; the region's consistency changes
//   mappings a region whose views have more pages than the system allows mappings: detector `segv` says so
#include <quire/quire.hpp>
#include <quire/system.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;
using word = std::uint64_t;
constexpr std::size_t words_of_page = page / sizeof(word);

std::uint64_t g_limit = 0;

unsigned nodes() { return static_cast<unsigned>(quire_nodes()); }
unsigned me() { return static_cast<unsigned>(quire_node()); }

template <class T>
T* fine(T* natural) {
  void* at = nullptr;
  REQUIRE_OK(quire_view(natural, QUIRE_FINE, &at));
  return static_cast<T*>(at);
}
template <class T>
T* natural(T* fine) {
  void* at = nullptr;
  REQUIRE_OK(quire_view(fine, QUIRE_NATURAL, &at));
  return static_cast<T*>(at);
}

quire_region_options minipages(std::size_t bytes, quire_placement placement, quire_consistency consistency) {
  quire_region_options about = region_options(0, placement);
  about.minipage_bytes = bytes;
  about.consistency = consistency;
  return about;
}

word value_of(std::uint64_t i, word round) { return mix(i + round * 1'000'003); }

/// Something went to the file, and came from there; and what was in memory was more than the limit only for a moment.
/// Of a limit of a few pages, a few pages more.
void require_paging(const quire_counters& before) {
  const auto now = counters();
  REQUIRE(now.paged_to_disk > before.paged_to_disk && now.paged_from_disk > before.paged_from_disk);
  if (now.most_memory > g_limit * 2 + 16 * page)
    fail(__FILE__, __LINE__, "%" PRIu64 " KiB were in memory", now.most_memory >> 10);
}

void larger_than_all(std::size_t minipage_bytes, quire_consistency consistency) {
  const auto before = counters();
  const std::uint64_t pages = g_limit * nodes() * 2 / page, each = page / minipage_bytes;
  const std::string name = "disk " + std::to_string(minipage_bytes) + (consistency == QUIRE_RELEASE ? " release" : "");
  word* const base = shared_region<word>(name, pages * page, minipages(minipage_bytes, QUIRE_PLACE_BLOCK, consistency));
  barrier();
  for (word round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < pages * each; ++i) {
      if ((i + round) % nodes() != me()) continue;
      const std::uint64_t first = i / each * words_of_page + i % each * minipage_bytes / sizeof(word);
      volatile word* const at = fine(base + first);
      for (std::uint64_t k = 0; k < minipage_bytes / sizeof(word); k += 3) at[k] = value_of(first + k, round);
    }
    barrier();
    for (std::uint64_t i = 0; i < pages * each; ++i) {
      if (i / each % nodes() != (me() + 1) % nodes()) continue;  // pages by turns
      const std::uint64_t first = i / each * words_of_page + i % each * minipage_bytes / sizeof(word);
      const volatile word* const at = i / each % 3 == 0 ? base + first : fine(base + first);
      for (std::uint64_t k = 0; k < minipage_bytes / sizeof(word); ++k)
        REQUIRE_EQUAL(at[k], k % 3 == 0 ? value_of(first + k, round) : 0);
    }
    barrier();
  }
  require_paging(before);
}

/// Each node makes objects of its own, and all write and read those of all.
void heap() {
  constexpr std::size_t sizes[] = {256, 400, 1000, 4000};
  const auto before = counters();
  const std::uint64_t bytes = g_limit * nodes() * 2, count = bytes / nodes() / (256 + 400 + 1000 + 4000) * 4;
  quire_region region{};
  quire_region_options about{};
  about.size = sizeof about;
  about.heap = 1;
  about.views = 16;
  if (me() == 0)
    REQUIRE_OK(quire_region_create(&about, std::max<std::uint64_t>(bytes * 2, nodes() * 4u << 20), &region));
  REQUIRE_OK(quire_broadcast(&region, sizeof region, 0));
  volatile word** const all = shared_object<volatile word*>("objects", nodes() * count);
  const auto size_of = [&](std::uint64_t i) { return sizes[i % 4] / sizeof(word); };
  for (std::uint64_t i = me() * count; i < (me() + 1) * count; ++i) {
    void* at = nullptr;
    REQUIRE_OK(quire_region_calloc(region, 0, size_of(i) * sizeof(word), &at));
    all[i] = static_cast<volatile word*>(at);
  }
  barrier();
  for (word round = 0; round < 2; ++round) {
    for (std::uint64_t i = (me() + round) % nodes(); i < nodes() * count; i += nodes()) {
      for (std::uint64_t k = 0; k < size_of(i); k += 5) all[i][k] = value_of(i * 512 + k, round);
    }
    barrier();
    for (std::uint64_t i = (me() + round + 1) % nodes(); i < nodes() * count; i += nodes()) {
      for (std::uint64_t k = 0; k < size_of(i); ++k)
        REQUIRE_EQUAL(all[i][k], k % 5 == 0 ? value_of(i * 512 + k, round) : 0);
    }
    barrier();
  }
  require_paging(before);
  barrier();
}

/// Words that are counted up under locks, by pins and by atomic operations, in different minipages of each page.
void mixed() {
  constexpr int threads = 2, steps = 300;
  constexpr std::size_t counted = 0, pinned_at = 3 * 32, locked_at = 7 * 32;  // words of a page, of units of 256 bytes
  const std::uint64_t pages = g_limit * nodes() / page;
  const auto about = minipages(256, QUIRE_PLACE_MODULO, QUIRE_SEQUENTIAL);
  quire_region region{};
  void* address = nullptr;
  if (me() == 0) REQUIRE_OK(quire_region_create(&about, pages * page, &region));
  REQUIRE_OK(quire_broadcast(&region, sizeof region, 0));
  REQUIRE_OK(quire_region_range(region, &address, nullptr));
  auto* const base = static_cast<word*>(address);
  quire_mutex mutex{};
  if (me() == 0) REQUIRE_OK(quire_mutex_create(&mutex));
  REQUIRE_OK(quire_broadcast(&mutex, sizeof mutex, 0));
  std::atomic<std::int64_t> added{0}, pinned{0}, locked{0};
  for (word phase = 0; phase < 3; ++phase) {
    on_threads(threads, [&](int thread) {
      random_numbers draw(phase * 1000 + me() * threads + static_cast<word>(thread));
      for (int i = 0; i < steps; ++i) {
        word* const words = base + draw.below(pages) * words_of_page;
        const auto either = [&](std::size_t k) { return draw.below(4) == 0 ? words + k : fine(words + k); };
        const auto what = draw.below(4);
        if (what == 0) {
          word old = 0;
          REQUIRE_OK(quire_fetch_add(either(counted), 1, &old));
          ++added;
        } else if (what == 1) {
          word* const at = fine(words + pinned_at);
          REQUIRE_OK(quire_pin(at, 256, -1, nullptr));
          at[thread] += 1;  // the pin is the node's
          REQUIRE_OK(quire_unpin(at, 256));
          ++pinned;
        } else if (what == 2) {
          REQUIRE_OK(quire_mutex_lock(mutex));
          *either(locked_at) += 1;
          REQUIRE_OK(quire_mutex_unlock(mutex));
          ++locked;
        } else {
          const volatile word* const look = either(pinned_at);
          REQUIRE(look[0] <= std::uint64_t{steps} * threads * nodes() * 3);
        }
      }
    });
    barrier();
    REQUIRE_OK(quire_region_set_consistency(region, phase == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL));
  }
  std::int64_t sums[3] = {added, pinned, locked};
  REQUIRE_OK(quire_reduce_i64(sums, 3, QUIRE_SUM));
  word found[3] = {};
  for (std::uint64_t p = 0; p < pages; ++p) {
    const volatile word* const words = base + p * words_of_page;
    found[0] += words[counted];
    found[1] += words[pinned_at] + words[pinned_at + 1];
    found[2] += words[locked_at];
  }
  for (int k = 0; k < 3; ++k) REQUIRE_EQUAL(found[k], sums[k]);
  barrier();
}

void mappings() {
  quire_region region{};
  const auto about = minipages(16, QUIRE_PLACE_BLOCK, QUIRE_SEQUENTIAL);
  if (me() == 0) REQUIRE_OK(quire_region_create(&about, 256u << 20, &region));  // 16 million
  barrier();
  if (me() == 0) REQUIRE_OK(quire_region_destroy(region));
}

std::uint64_t bytes_of(const char* limit) {
  char* unit = nullptr;
  const std::uint64_t number = limit != nullptr ? std::strtoull(limit, &unit, 10) : 0;
  return number << (unit != nullptr && *unit == 'M' ? 20 : unit != nullptr && *unit == 'K' ? 10 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  g_limit = bytes_of(std::getenv("QUIRE_MEMORY_LIMIT"));
  if (g_limit == 0) return 2;
  REQUIRE_OK(quire_start(nullptr));
  if (what == "disk") {
    for (const std::size_t bytes : {672, 256, 2048}) larger_than_all(bytes, QUIRE_SEQUENTIAL);
    larger_than_all(672, QUIRE_RELEASE);
    larger_than_all(256, QUIRE_RELEASE);
  }
  if (what == "heap") heap();
  if (what == "mixed") mixed();
  if (what == "mappings") mappings();
  REQUIRE_OK(quire_end());
  return 0;
}
