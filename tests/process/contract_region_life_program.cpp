// SPDX-License-Identifier: BSD-3-Clause
// Contract of regions that go: quire_region_destroy() gives back content, memory, addresses and numbers on all nodes, a
// program may make and destroy regions for ever, an old handle is never a new region's, and nothing changes where
// something is against it. And of heaps in regions: quire_region_malloc(). With an argument: "access", "waits" (an
// access to a region that is gone ends the program with a line), and "bad free".
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <quire/quire.hpp>
#include <quire/system.h>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;
int g_any = 0;

struct area {
  quire_region region{};
  std::uint64_t* words = nullptr;
  std::size_t bytes = 0;
};

bool leads() { return quire_node() == 0; }
int nodes() { return quire_nodes(); }

/// Node `maker` makes it, all know it: nobody destroys it before.
area make(std::size_t bytes, quire_region_options about, int maker = 0) {
  quire_region region{};
  if (quire_node() == maker) REQUIRE_OK(quire_region_create(&about, bytes, &region));
  REQUIRE_OK(quire_broadcast(&region, sizeof region, maker));
  area a{region, nullptr, bytes};
  if (about.heap == 0) {
    void* at = nullptr;
    REQUIRE_OK(quire_region_range(region, &at, nullptr));
    a.words = static_cast<std::uint64_t*>(at);
  }
  barrier();
  return a;
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}
std::size_t kilobytes(const char* file, const char* key) {
  std::ifstream status(file);
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::strtoull(line.c_str() + std::string_view(key).size(), nullptr, 10);
  }
  return 0;
}
/// Memory of this process, shared or not; and address space.
std::size_t resident_kib() { return kilobytes("/proc/self/status", "VmRSS:"); }
std::size_t virtual_kib() { return kilobytes("/proc/self/status", "VmSize:"); }

/// Different nodes write different words, then all read all.
void use(const area& a, std::uint64_t round) {
  const std::size_t words = a.bytes / sizeof(std::uint64_t), step = page / sizeof(std::uint64_t);
  for (std::size_t at = static_cast<std::size_t>(quire_node()); at < words; at += step) {
    REQUIRE_EQUAL(a.words[at], 0);
    a.words[at] = round + at;
  }
  barrier();
  for (std::size_t at = 0; at < words; at += step) {
    for (std::size_t n = 0; n < static_cast<std::size_t>(nodes()) && at + n < words; ++n)
      REQUIRE_EQUAL(a.words[at + n], round + at + n);
  }
  barrier();
}

void comes_and_goes() {
  for (const auto consistency : {QUIRE_SEQUENTIAL, QUIRE_RELEASE}) {
    std::uint64_t* first = nullptr;
    quire_region old{};
    for (std::uint64_t round = 1; round <= 20; ++round) {
      quire_region_options about = region_options(page, round % 2 == 0 ? QUIRE_PLACE_MODULO : QUIRE_PLACE_BLOCK);
      about.consistency = consistency;
      const area a = make((4 + round % 3) * about.unit_bytes, about, static_cast<int>(round) % nodes());
      if (round == 1) first = a.words;
      if (old.id != 0) {
        REQUIRE(a.region.id != old.id);
        REQUIRE_STATUS(quire_region_range(old, nullptr, nullptr), QUIRE_NOT_FOUND);
        REQUIRE_STATUS(quire_region_destroy(old), QUIRE_NOT_FOUND);
        REQUIRE(std::strstr(quire_last_error(), "destroyed") != nullptr);
        REQUIRE_STATUS(quire_region_set_consistency(old, QUIRE_RELEASE), QUIRE_NOT_FOUND);
        REQUIRE_STATUS(quire_block_begin(old, 0), QUIRE_NOT_FOUND);
      }
      quire_region found{};
      REQUIRE_OK(quire_region_of(a.words, &found));
      REQUIRE_EQUAL(found.id, a.region.id);
      REQUIRE(std::max(a.words, first) - std::min(a.words, first) < (256 << 20) / 8);  // addresses are used again
      use(a, round << 32);
      if (quire_node() == static_cast<int>(round + 1) % nodes()) REQUIRE_OK(quire_region_destroy(a.region));
      barrier();
      old = a.region;
      REQUIRE_STATUS(quire_region_of(a.words, &found), QUIRE_BAD_ADDRESS);
      barrier();  // a later region may have the address
    }
  }
}

/// Many at a time, and more in all than a job has at a time.
void without_growth(int times) {
  std::size_t before_maps = 0, before_resident = 0, before_virtual = 0;
  for (int round = 0; round < times; ++round) {
    quire_region_options about = region_options(page, QUIRE_PLACE_MODULO);
    about.consistency = round % 2 == 0 ? QUIRE_SEQUENTIAL : QUIRE_RELEASE;
    const area a = make(4 * about.unit_bytes, about);
    auto* const mine = a.words + static_cast<std::size_t>(quire_node()) * (about.unit_bytes / 8) % (a.bytes / 8);
    REQUIRE_EQUAL(*mine, 0);
    *mine = 1;
    barrier();
    if (leads()) REQUIRE_OK(quire_region_destroy(a.region));
    if (round == times / 10) {
      before_maps = mappings();
      before_resident = resident_kib();
      before_virtual = virtual_kib();
    }
  }
  barrier();
  const std::size_t maps = mappings(), resident = resident_kib(), all = virtual_kib();
  if (quire_node() == nodes() - 1) {
    std::printf("%d regions: mappings %zu -> %zu, resident %zu -> %zu KiB, addresses %zu -> %zu KiB\n", times,
                before_maps, maps, before_resident, resident, before_virtual, all);
  }
  REQUIRE(maps <= before_maps + 16);
  REQUIRE(resident <= before_resident + 8 * 1024);
  REQUIRE(all <= before_virtual + 160 * 1024);
}

/// Its memory goes: 64 MiB, ten times as much in all as the limit below would let stand.
void gives_memory_back() {
  const std::size_t bytes = std::size_t{32} << 20;
  std::size_t most = 0;
  for (int round = 0; round < 8; ++round) {
    quire_region_options about = region_options(page, QUIRE_PLACE_BLOCK);
    const area a = make(bytes, about);
    const std::size_t share = bytes / 8 / static_cast<std::size_t>(nodes());
    for (std::size_t i = 0; i < share; i += page / 8) a.words[share * static_cast<std::size_t>(quire_node()) + i] = 1;
    barrier();
    if (leads()) REQUIRE_OK(quire_region_destroy(a.region));
    barrier();
    if (round == 1) most = resident_kib();
  }
  REQUIRE(resident_kib() <= most + 4 * 1024);
}

void is_refused() {
  REQUIRE_STATUS(quire_region_destroy(quire_region{0}), QUIRE_INVALID);
  REQUIRE(std::strstr(quire_last_error(), "quire_malloc()") != nullptr);
  REQUIRE_STATUS(quire_region_destroy(quire_region{4000}), QUIRE_NOT_FOUND);
  REQUIRE_STATUS(quire_region_destroy(quire_region{~0ull}), QUIRE_NOT_FOUND);
  const area a = make(4 * page, region_options(page, QUIRE_PLACE_BLOCK));
  a.words[0] = 7;
  barrier();
  if (quire_node() == nodes() - 1) {
    a.words[1] = 8;
    REQUIRE_OK(quire_pin(a.words, page, -1, nullptr));
  }
  barrier();
  if (leads()) {
    REQUIRE_STATUS(quire_region_destroy(a.region), QUIRE_BUSY);
    REQUIRE(std::strstr(quire_last_error(), "pinned") != nullptr);
  }
  barrier();
  if (quire_node() == nodes() - 1) REQUIRE_OK(quire_unpin(a.words, page));
  barrier();
  REQUIRE_EQUAL(a.words[1], 8);  // nothing has changed
  REQUIRE_OK(quire_block_begin(a.region, 0));
  if (leads()) {
    REQUIRE_STATUS(quire_region_destroy(a.region), QUIRE_BUSY);
    REQUIRE(std::strstr(quire_last_error(), "block") != nullptr);
  }
  barrier();
  REQUIRE_OK(quire_block_end(a.region, nullptr));
  REQUIRE_EQUAL(a.words[0], 7);
  barrier();
  if (leads()) REQUIRE_OK(quire_region_destroy(a.region));
  barrier();
}

/// Names go with what they name, others stay.
void names_go() {
  const area a = make(page, region_options(page, QUIRE_PLACE_BLOCK));
  if (leads()) {
    REQUIRE_OK(quire_publish("in it", a.words + 3));
    REQUIRE_OK(quire_publish("beside it", &g_any));
    REQUIRE_OK(quire_region_destroy(a.region));
  }
  barrier();
  void* at = nullptr;
  REQUIRE_STATUS(quire_lookup("in it", 0, &at), QUIRE_NOT_FOUND);
  REQUIRE_OK(quire_lookup("beside it", 0, &at));
  barrier();
  if (leads()) REQUIRE_OK(quire_publish("in it", &g_any));
  barrier();
}

/// While others use other regions, locks and collectives.
void beside_other_work() {
  const area stays = make(8 * page, region_options(page, QUIRE_PLACE_MODULO));
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    std::uint64_t before = 0;
    while (!stop.load()) REQUIRE_OK(quire_fetch_add(stays.words + 8, 1, &before));
  });
  for (int round = 0; round < 100; ++round) {
    quire_region_options about = region_options(page, QUIRE_PLACE_BLOCK);
    about.consistency = round % 3 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
    quire_region mine{};
    void* at = nullptr;
    REQUIRE_OK(quire_region_create(&about, 4 * about.unit_bytes, &mine));
    REQUIRE_OK(quire_region_range(mine, &at, nullptr));
    auto* const words = static_cast<volatile std::uint64_t*>(at);
    REQUIRE_EQUAL(words[5], 0);
    words[5] = 1;
    REQUIRE_OK(quire_prefetch(at, 4 * about.unit_bytes, 1));
    REQUIRE_OK(quire_region_destroy(mine));
  }
  stop = true;
  worker.join();
  barrier();
  if (leads()) REQUIRE_OK(quire_region_destroy(stays.region));
  barrier();
}

/// Numbers are read meanwhile. What regions that have gone counted stays counted, so no number ever goes down.
void beside_counters(int times) {
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    std::uint64_t before = 0;
    for (std::size_t reads = 0; !stop.load(); ++reads) {
      const quire_counters now = counters();
      const std::uint64_t faults = now.read_faults + now.write_faults + now.local_faults;
      REQUIRE(faults >= before && faults < before + 1'000'000);
      before = faults;
    }
  });
  for (int round = 0; round < times; ++round) {
    quire_region_options about = region_options(page, QUIRE_PLACE_BLOCK, quire_node());
    about.consistency = round % 2 == 0 ? QUIRE_SEQUENTIAL : QUIRE_RELEASE;
    quire_region mine{};
    void* at = nullptr;
    REQUIRE_OK(quire_region_create(&about, 16 * about.unit_bytes, &mine));
    REQUIRE_OK(quire_region_range(mine, &at, nullptr));
    for (std::size_t i = 0; i < 16; ++i) static_cast<volatile std::byte*>(at)[i * about.unit_bytes] = std::byte{1};
    REQUIRE_OK(quire_region_destroy(mine));
  }
  stop = true;
  reader.join();
}

#include "contract_region_heap.hpp"

void access_it(bool waits) {
  const area a = make(4 * page, region_options(page, QUIRE_PLACE_BLOCK));
  a.words[quire_node()] = 1;
  barrier();
  if (leads()) REQUIRE_OK(quire_region_destroy(a.region));
  if (!waits) barrier();
  if (quire_node() == nodes() - 1) {
    auto* const words = static_cast<volatile std::uint64_t*>(a.words);
    for (;;) words[600] = words[600] + 1;  // until it is gone
  }
  sleep_ms(20'000);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  return node_main([&] {
    if (what == "access" || what == "waits") return access_it(what == "waits");
    section("regions come and go", comes_and_goes);
    section("what is against it", is_refused);
    section("names", names_go);
    section("beside other work", beside_other_work);
    section("beside counters", [] { beside_counters(100); });
    section("memory", gives_memory_back);
    section("heaps in regions", heaps_in_regions);
    const int times = what.empty() ? 120 : std::atoi(argv[1]);
    section("for ever", [&] { without_growth(times); });
  });
}
