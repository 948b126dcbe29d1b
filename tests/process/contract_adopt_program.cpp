// SPDX-License-Identifier: BSD-3-Clause
// Contract of quire_region_adopt(): memory that the program had before is shared from then on, with the content of one
// node; what cannot be done leaves all as it was; after quire_end() each node has its memory, and what is in it. With
// "fork": a child ends with a line.
#include <quire/quire.hpp>
#include <quire/system.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096, words_of_page = page / sizeof(std::uint64_t);

struct alignas(page) pages {
  std::uint64_t words[4 * words_of_page];
};
pages g_data = {{7, 8, 9}};  // .data
pages g_nothing;             // .bss
pages g_released = {{1}};
constexpr std::size_t pages_touched = 4;
pages g_touched = {{1}};                                                       // content on its first page alone
pages g_alone = {{5}};                                                         // never shared
alignas(64 << 10) std::uint64_t g_large[(64u << 20) / sizeof(std::uint64_t)];  // .bss, hardly touched

/// After the end of the job, when destructors run.
struct at_exit {
  ~at_exit() {
    if (g_data.words[0] != 100 || g_large[5] != 6) ::_exit(3);
    if (g_large[std::size(g_large) - 1] != 0) ::_exit(4);  // forgotten
    g_data.words[1] = 1;
  }
} g_at_exit;

int nodes() { return quire_nodes(); }
std::uint64_t self() { return static_cast<std::uint64_t>(quire_node()); }

/// Static data lies at the same addresses on all nodes.
void without_random_addresses(char** arguments) {
  const int now = ::personality(0xffffffff);
  if ((now & ADDR_NO_RANDOMIZE) != 0) return;
  REQUIRE(::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0);
  ::execv("/proc/self/exe", arguments);
  REQUIRE(!"execv");
}

quire_region adopt(void* at, std::size_t bytes, int node, quire_region_options options = {}) {
  options.size = sizeof options;
  quire_region region{};
  REQUIRE_OK(quire_region_adopt(&options, at, bytes, node, &region));
  return region;
}

/// All nodes see what one node had, and then what others write.
void takes_the_content_of_one_node() {
  const int last = nodes() - 1;
  g_data.words[0] = 10 + self();
  g_data.words[words_of_page] = 20 + self();
  const quire_region region = adopt(&g_data, sizeof g_data, last);
  REQUIRE_EQUAL(g_data.words[0], 10 + last);
  REQUIRE_EQUAL(g_data.words[1], 8);
  REQUIRE_EQUAL(g_data.words[words_of_page], 20 + last);
  REQUIRE_EQUAL(g_data.words[2 * words_of_page], 0);
  barrier();
  quire_region found{};
  REQUIRE_OK(quire_region_of(&g_data.words[3], &found));
  REQUIRE_EQUAL(found.id, region.id);
  void* at = nullptr;
  std::uint64_t bytes = 0;
  REQUIRE_OK(quire_region_range(region, &at, &bytes));
  REQUIRE(at == &g_data && bytes == sizeof g_data);
  barrier();
  g_data.words[3 * words_of_page + self()] = self() + 1;
  barrier();
  for (std::uint64_t n = 0; n < static_cast<std::uint64_t>(nodes()); ++n)
    REQUIRE_EQUAL(g_data.words[3 * words_of_page + n], n + 1);
  std::uint64_t before = 0;
  REQUIRE_OK(quire_fetch_add(&g_data.words[2 * words_of_page], 1, &before));
  barrier();
  REQUIRE_EQUAL(g_data.words[2 * words_of_page], nodes());
  REQUIRE_STATUS(quire_region_destroy(region), QUIRE_INVALID);
  REQUIRE(std::strstr(quire_last_error(), "quire_region_adopt") != nullptr);
  barrier();
}

/// What had content starts where that was, and the rest where it is touched: the last node's writes go to no other.
void has_homes_where_it_is_touched() {
  quire_region_options options{};
  options.size = sizeof options;
  options.consistency = QUIRE_RELEASE;
  options.placement = QUIRE_PLACE_FIRST_TOUCH;
  const int last = nodes() - 1;
  if (last != 0 && quire_node() == last) g_touched.words[1] = 5;
  (void)adopt(&g_touched, sizeof g_touched, 0, options);
  quire_counters before{}, after{};
  before.size = after.size = sizeof before;
  REQUIRE_OK(quire_counters_read(&before));
  REQUIRE_EQUAL(g_touched.words[0], 1);
  REQUIRE_EQUAL(g_touched.words[1], 0);
  barrier();
  for (std::size_t page_number = 1; quire_node() == last && page_number < pages_touched; ++page_number)
    g_touched.words[page_number * words_of_page + 7] = page_number;
  barrier();
  for (std::size_t page_number = 1; quire_node() == 0 && page_number < pages_touched; ++page_number) {
    REQUIRE_EQUAL(g_touched.words[page_number * words_of_page + 7], page_number);
    REQUIRE_EQUAL(g_touched.words[page_number * words_of_page + 8], 0);
  }
  barrier();
  REQUIRE_OK(quire_counters_read(&after));
  if (quire_node() == last) REQUIRE_EQUAL(after.diffs, before.diffs);
}

void has_both_consistencies() {
  quire_region_options options{};
  options.size = sizeof options;
  options.consistency = QUIRE_RELEASE;
  const quire_region region = adopt(&g_released, sizeof g_released, 0, options);
  REQUIRE_EQUAL(g_released.words[0], 1);
  barrier();
  for (std::uint64_t round = 1; round <= 10; ++round) {
    for (std::size_t w = self(); w < std::size(g_released.words); w += static_cast<std::size_t>(nodes()))
      g_released.words[w] = round * w;
    barrier();
    for (std::size_t w = 0; w < std::size(g_released.words); ++w) REQUIRE_EQUAL(g_released.words[w], round * w);
    barrier();
  }
  REQUIRE_OK(quire_region_set_consistency(region, QUIRE_SEQUENTIAL));
  g_released.words[self()] = 77;
  barrier();
  for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(g_released.words[n], 77);
  barrier();
}

/// Pages that nobody has touched take no memory; units may be larger.
void takes_large_memory() {
  g_large[5] = 6;
  g_large[std::size(g_large) - 1] = 8;
  quire_region_options options{};
  options.size = sizeof options;
  options.unit_bytes = 64 << 10;
  (void)adopt(g_large, sizeof g_large, 0, options);
  REQUIRE_EQUAL(g_large[5], 6);
  REQUIRE_EQUAL(g_large[std::size(g_large) / 2], 0);
  REQUIRE_EQUAL(g_large[std::size(g_large) - 1], 8);
  REQUIRE_OK(quire_region_forget(&g_large[std::size(g_large) / 2], sizeof g_large / 2));
  REQUIRE_OK(quire_region_forget(&g_large[1], 1));
  REQUIRE_STATUS(quire_region_forget(nullptr, 0), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_forget(&g_large[0], ~std::uint64_t{0}), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_forget(&options, sizeof options), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_region_forget(&g_large[0], sizeof g_large + (std::uint64_t{1} << 50)), QUIRE_BAD_ADDRESS);
  barrier();
  REQUIRE_EQUAL(g_large[std::size(g_large) - 1], 8);
  barrier();
}

/// Many pieces, with gaps of private memory between them, above and below the others.
void takes_many() {
  constexpr std::size_t count = 64;
  for (const std::uint64_t base : {std::uint64_t{0x10'0000'0000}, std::uint64_t{0x7000'0000'0000}}) {
    auto* const at =
        static_cast<std::byte*>(::mmap(reinterpret_cast<void*>(base), 2 * count * page, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    REQUIRE(reinterpret_cast<std::uint64_t>(at) == base);
    const auto word = [at](std::size_t i) { return reinterpret_cast<std::uint64_t*>(at + i * page); };
    for (std::size_t i = 0; i < 2 * count; ++i) *word(i) = 1000 * self() + i;
    for (std::size_t i = 0; i < count; ++i)
      (void)adopt(word(2 * (i * 29 % count)), page, static_cast<int>(i) % nodes());
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE_EQUAL(*word(2 * (i * 29 % count)), 1000 * (i % static_cast<std::size_t>(nodes())) + 2 * (i * 29 % count));
      REQUIRE_EQUAL(*word(2 * i + 1), 1000 * self() + 2 * i + 1);
    }
    barrier();
    quire_region found{};
    REQUIRE_STATUS(quire_region_of(word(1), &found), QUIRE_BAD_ADDRESS);
  }
}

void works_with_system_calls() {
  barrier();
  if (quire_node() == 0) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::write(ends[1], "shared", 6) == 6);
    REQUIRE(::read(ends[0], &g_data.words[10], 6) == 6);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  barrier();
  REQUIRE(std::memcmp(&g_data.words[10], "shared", 6) == 0);
  REQUIRE(std::system("true") == 0);
  REQUIRE_STATUS(quire_checkpoint("/tmp/never"), QUIRE_UNSUPPORTED);
}

void refuse(void* at, std::uint64_t bytes, quire_status wanted, const char* word, int node = 0,
            quire_region_options options = {}) {
  options.size = sizeof options;
  quire_region region{};
  REQUIRE_STATUS(quire_region_adopt(&options, at, bytes, node, &region), wanted);
  if (std::strstr(quire_last_error(), word) == nullptr)
    fail(__FILE__, __LINE__, "\"%s\" does not speak of \"%s\"", quire_last_error(), word);
}

void refuses_what_cannot_be() {
  auto* const bytes = reinterpret_cast<std::byte*>(&g_alone);
  refuse(&g_alone, 0, QUIRE_INVALID, "size");
  refuse(bytes + 8, page, QUIRE_INVALID, "whole units");
  refuse(&g_alone, page + 1, QUIRE_INVALID, "whole units");
  refuse(nullptr, page, QUIRE_INVALID, "whole units");
  refuse(&g_alone, std::uint64_t{1} << 60, QUIRE_INVALID, "no program");
  refuse(&g_alone, ~std::uint64_t{0} - page + 1, QUIRE_INVALID, "no program");
  refuse(&g_alone, page, QUIRE_INVALID, "node", -1);
  refuse(&g_alone, page, QUIRE_INVALID, "node", nodes());
  quire_region_options options{};
  options.heap = 1;
  refuse(&g_alone, page, QUIRE_INVALID, "heap", 0, options);
  options.heap = 0;
  options.placement = QUIRE_PLACE_MODULO;
  refuse(&g_alone, page, QUIRE_INVALID, "placement", 0, options);
  options.placement = QUIRE_PLACE_BLOCK;
  options.unit_bytes = 5000;
  refuse(&g_alone, page, QUIRE_INVALID, "power of two", 0, options);
  options.unit_bytes = 2 << 20;
  refuse(&g_alone, page, QUIRE_INVALID, "whole units", 0, options);
  refuse(&g_data, page, QUIRE_EXISTS, "shared already");
  refuse(reinterpret_cast<std::byte*>(&g_data) + page, page, QUIRE_EXISTS, "shared already");
  void* shared = nullptr;
  REQUIRE_OK(quire_aligned_alloc(page, page, &shared));
  REQUIRE_OK(quire_broadcast(&shared, sizeof shared, 0));
  refuse(shared, page, QUIRE_EXISTS, "shared already");
  const auto of_page = [](const void* at) {
    return reinterpret_cast<void*>(reinterpret_cast<std::uint64_t>(at) & ~(page - 1));
  };
  int local = 0;
  refuse(of_page(&local), page, QUIRE_INVALID, "stack");
  refuse(of_page(stdout), page, QUIRE_INVALID, "C library");
  void* const hole = reinterpret_cast<void*>(0x6000'0000'0000);
  refuse(hole, page, QUIRE_BAD_ADDRESS, "mapped");
  // Only the last node asks for something else.
  refuse(&g_alone, quire_node() == nodes() - 1 && nodes() > 1 ? 2 * page : nodes() > 1 ? page : 0, QUIRE_INVALID, "");
  options.unit_bytes = 0;
  options.detector = QUIRE_DETECT_SCAN;  // not with sequential consistency: found when the region is made
  g_alone.words[9] = 9 + self();
  refuse(&g_alone, sizeof g_alone, QUIRE_UNSUPPORTED, "", 0, options);
  REQUIRE_EQUAL(g_alone.words[0], 5);
  REQUIRE_EQUAL(g_alone.words[9], 9 + self());
  quire_region region{};
  REQUIRE_STATUS(quire_region_adopt(nullptr, &g_alone, page, 0, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_of(&g_alone, &region), QUIRE_BAD_ADDRESS);
}

void forks() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

/// The last node shares memory, and takes it away, while the others wait for something else; again and again.
void one_node_does_alone() {
  static pages memory;
  constexpr int times = 20;
  for (int time = 0; time < times; ++time) {
    memory.words[0] = self();
    memory.words[words_of_page] = 5;
    barrier();
    quire_region region{};
    const bool mine = quire_node() == nodes() - 1;
    if (mine) REQUIRE_OK(quire_region_adopt_alone(nullptr, &memory, sizeof memory, &region));
    barrier();
    REQUIRE_EQUAL(memory.words[0], static_cast<std::uint64_t>(nodes() - 1));
    REQUIRE_EQUAL(memory.words[words_of_page], 5);
    barrier();
    if (quire_node() == 0) memory.words[0] = 77;
    barrier();
    REQUIRE_EQUAL(memory.words[0], 77);
    barrier();
    if (mine) {
      quire_region again{};
      REQUIRE_STATUS(quire_region_adopt_alone(nullptr, &memory, page, &again), QUIRE_EXISTS);
      REQUIRE_STATUS(quire_region_adopt_alone(nullptr, &memory, 0, &again), QUIRE_INVALID);
      REQUIRE_STATUS(quire_region_adopt_alone(nullptr, &g_alone, page, nullptr), QUIRE_INVALID);
      REQUIRE_STATUS(quire_region_destroy(region), QUIRE_INVALID);
      REQUIRE_OK(quire_region_disown(region));
      REQUIRE_STATUS(quire_region_disown(region), QUIRE_INVALID);
    }
    barrier();
    // What stays there is the program's again, to be mapped anew.
    REQUIRE(::mmap(&memory, sizeof memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
            &memory);
    barrier();
  }
}

}  // namespace

int main(int argc, char** argv) {
  without_random_addresses(argv);
  quire_region region{};
  REQUIRE_STATUS(quire_region_adopt(nullptr, &g_alone, page, 0, &region), QUIRE_NOT_STARTED);
  REQUIRE_OK(quire_start(nullptr));
  takes_the_content_of_one_node();
  takes_large_memory();
  if (argc > 1 && std::string_view(argv[1]) == "fork") forks();
  has_homes_where_it_is_touched();
  has_both_consistencies();
  takes_many();
  works_with_system_calls();
  one_node_does_alone();
  refuses_what_cannot_be();
  barrier();
  if (quire_node() == nodes() - 1) g_data.words[0] = 100;
  REQUIRE_OK(quire_end());
  REQUIRE_EQUAL(g_data.words[0], 100);
  g_data.words[0] = 99;  // private again
  REQUIRE_EQUAL(g_data.words[0], 99);
  g_data.words[0] = 100;
  REQUIRE_EQUAL(g_released.words[0], 77);
  REQUIRE_EQUAL(g_nothing.words[0], 0);
  return 0;
}
