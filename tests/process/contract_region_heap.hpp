// SPDX-License-Identifier: BSD-3-Clause
// Heaps in regions: a part of contract_region_life_program.cpp.
#pragma once

area make_heap(std::size_t bytes, quire_placement placement, quire_consistency consistency) {
  quire_region_options about = region_options(page, placement, nodes() - 1);
  about.consistency = consistency;
  about.heap = 1;
  return make(bytes, about);
}

/// Each node allocates, another one reads, writes, and frees.
void are_handed_on(const area& a) {
  struct block {
    std::uint64_t* at;
    std::uint64_t count;
  };
  constexpr std::size_t each = 200;
  auto* const blocks =
      shared_object<block>("blocks " + std::to_string(a.region.id), each * static_cast<std::size_t>(nodes()));
  auto* const mine = blocks + each * static_cast<std::size_t>(quire_node());
  random_numbers draw(17 + static_cast<unsigned>(quire_node()));
  for (std::size_t i = 0; i < each; ++i) {
    const std::uint64_t count = 1 + draw.below(i % 10 == 0 ? 2000 : 40);
    void* at = nullptr;
    const std::size_t alignment = std::size_t{1} << draw.below(13);
    REQUIRE_OK(quire_region_malloc(a.region, alignment, count * 8, &at));
    REQUIRE_EQUAL(reinterpret_cast<std::uintptr_t>(at) % alignment, 0);
    quire_region found{};
    REQUIRE_OK(quire_region_of(at, &found));
    REQUIRE_EQUAL(found.id, a.region.id);
    mine[i] = {static_cast<std::uint64_t*>(at), count};
    for (std::uint64_t w = 0; w < count; ++w) mine[i].at[w] = i + w;
  }
  barrier();
  auto* const theirs = blocks + each * static_cast<std::size_t>((quire_node() + 1) % nodes());
  for (std::size_t i = 0; i < each; ++i) {
    for (std::uint64_t w = 0; w < theirs[i].count; ++w) REQUIRE_EQUAL(theirs[i].at[w], i + w);
    std::size_t size = 0;
    REQUIRE_OK(quire_allocation_size(theirs[i].at, &size));
    REQUIRE(size >= theirs[i].count * 8);
    void* grown = theirs[i].at;
    if (i % 3 == 0) {
      REQUIRE_OK(quire_realloc(theirs[i].count * 16, &grown));
      for (std::uint64_t w = 0; w < theirs[i].count; ++w) REQUIRE_EQUAL(static_cast<std::uint64_t*>(grown)[w], i + w);
      quire_region found{};
      REQUIRE_OK(quire_region_of(grown, &found));
      REQUIRE_EQUAL(found.id, a.region.id);
    }
    REQUIRE_OK(quire_free(grown));
  }
  barrier();
}

/// All of it can be allocated, whoever asks, and again after it was freed.
void is_used_up(const area& a) {
  if (!leads()) return barrier();
  std::size_t counts[2];
  for (std::size_t& count : counts) {
    std::vector<void*> all;
    for (;;) {
      void* at = nullptr;
      const quire_status why = quire_region_malloc(a.region, 0, 8 * page, &at);
      if (why == QUIRE_NO_MEMORY) break;
      REQUIRE_OK(why);
      all.push_back(at);
    }
    for (void* const at : all) REQUIRE_OK(quire_free(at));
    count = all.size();
  }
  REQUIRE(counts[0] * 8 * page >= a.bytes / 2);
  REQUIRE(counts[1] + 8 >= counts[0]);  // an empty span of small objects may have been kept, or not
  barrier();
}

void is_no_heap() {
  const area heap = make_heap(4u << 20, QUIRE_PLACE_BLOCK, QUIRE_SEQUENTIAL),
             range = make(4 * page, region_options(page, QUIRE_PLACE_BLOCK));
  void* at = nullptr;
  REQUIRE_STATUS(quire_region_range(heap.region, &at, nullptr), QUIRE_INVALID);
  REQUIRE(std::strstr(quire_last_error(), "quire_region_malloc()") != nullptr);
  REQUIRE_STATUS(quire_region_malloc(range.region, 0, 16, &at), QUIRE_INVALID);
  REQUIRE(std::strstr(quire_last_error(), "heap = 1") != nullptr);
  REQUIRE_STATUS(quire_region_malloc(heap.region, 0, 0, &at), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_malloc(heap.region, 0, std::size_t{1} << 60, &at), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_malloc(heap.region, 0, 5u << 20, &at), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_malloc(heap.region, 24, 64, &at), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_malloc(heap.region, 0, 16, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_malloc(quire_region{~0ull}, 0, 16, &at), QUIRE_NOT_FOUND);
  REQUIRE_STATUS(quire_free(range.words), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_heap_range(range.region, &at, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_heap_range(quire_region{~0ull}, &at, nullptr), QUIRE_NOT_FOUND);
  void* first = nullptr;
  std::uint64_t bytes = 0;
  REQUIRE_OK(quire_heap_range(heap.region, &first, &bytes));
  REQUIRE_EQUAL(bytes, 4u << 20);
  for (int i = 0; i < 3; ++i) {
    REQUIRE_OK(quire_region_calloc(heap.region, 0, 5 * page, &at));
    REQUIRE(static_cast<std::byte*>(at) >= first &&
            static_cast<std::byte*>(at) + 5 * page <= static_cast<std::byte*>(first) + bytes);
    REQUIRE(std::all_of(static_cast<std::byte*>(at), static_cast<std::byte*>(at) + 5 * page,
                        [](std::byte b) { return b == std::byte{}; }));
    std::memset(at, 7, 5 * page);
    REQUIRE_OK(quire_free(at));
  }
  REQUIRE_OK(quire_heap_range({}, &first, &bytes));
  REQUIRE(bytes != 0);
  REQUIRE_OK(quire_region_malloc(quire_region{0}, 64, 100, &at));
  REQUIRE_OK(quire_free(at));
  barrier();
  if (leads()) {
    REQUIRE_OK(quire_region_destroy(heap.region));
    REQUIRE_OK(quire_region_destroy(range.region));
    REQUIRE_STATUS(quire_region_malloc(heap.region, 0, 16, &at), QUIRE_NOT_FOUND);
  }
  barrier();
}

/// Frees that wait when the region goes are of the old one, though another has its addresses: what is allocated there
/// stays.
void late_frees() {
  for (int round = 0; round < 20; ++round) {
    const area a = make_heap(std::size_t{4} << 20, QUIRE_PLACE_BLOCK, QUIRE_SEQUENTIAL);
    auto** const blocks = shared_object<void*>("late " + std::to_string(round), static_cast<std::size_t>(nodes()));
    void* mine = nullptr;
    REQUIRE_OK(quire_region_malloc(a.region, 0, 64, &mine));
    *static_cast<std::uint64_t*>(mine) = 99;
    blocks[quire_node()] = mine;
    barrier();
    REQUIRE_OK(quire_free(blocks[(quire_node() + 1) % nodes()]));
    if (round % 2 == 0) sleep_ms(2);
    barrier();
    if (leads()) REQUIRE_OK(quire_region_destroy(a.region));
    barrier();
  }
  REQUIRE_EQUAL(counters().bad_frees, 0);
}

void in_cpp() {
  const auto heap = quire::from_node(
      0, [] { return quire::region::create(8u << 20, {.consistency = quire::consistency::release, .heap = true}); });
  {
    std::vector<int, quire::allocator<int>> numbers{quire::allocator<int>{heap}};
    for (int i = 0; i < 5000; ++i) numbers.push_back(i);
    REQUIRE(quire::region::of(numbers.data()) == heap);
    auto copy = numbers;
    REQUIRE(quire::region::of(copy.data()) == heap);
    REQUIRE_EQUAL(copy[4999], 4999);
    quire::memory_resource resource(heap);
    std::pmr::vector<int> other({1, 2, 3}, &resource);
    REQUIRE(quire::region::of(other.data()) == heap);
    auto* const one = heap.make<std::pair<int, int>>(3, 4);
    REQUIRE(quire::region::of(one) == heap);
    REQUIRE_EQUAL(one->second, 4);
    quire::delete_object(one);
    const auto zeros = heap.make_array<double>(1000);
    REQUIRE(std::all_of(zeros.begin(), zeros.end(), [](double d) { return d == 0; }));
    quire::free_shared_array(zeros);
  }
  barrier();
  if (leads()) heap.destroy();
  barrier();
}

void heaps_in_regions() {
  for (const auto consistency : {QUIRE_SEQUENTIAL, QUIRE_RELEASE}) {
    for (const auto placement : {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE, QUIRE_PLACE_FIRST_TOUCH}) {
      const area a = make_heap(std::size_t{16} << 20, placement, consistency);
      are_handed_on(a);
      is_used_up(a);
      if (leads()) REQUIRE_OK(quire_region_destroy(a.region));
      barrier();
    }
  }
  is_no_heap();
  late_frees();
  in_cpp();
}
