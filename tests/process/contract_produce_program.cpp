// Contract of page broadcasting (KOAN): at the end of a production phase every node has what the producer wrote, and reads it
// without a fault; what was not written is not sent; nobody sends more than a few copies of a page.
#include <quire/memory.hpp>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096, page_words = page / sizeof(std::uint64_t), pages = 96;
using word = std::uint64_t;

std::uint64_t faults(const quire_counters& c) { return c.read_faults + c.write_faults + c.upgrade_faults; }

/// Every producer in turn; of every third page something is written.
void phases(std::size_t unit, quire_placement placement, const char* name) {
  auto* volatile words = shared_region<word>(name, pages * page, region_options(unit, placement, 0));
  auto* const start = const_cast<word*>(words);
  barrier();
  for (int producer = 0; producer < quire_nodes(); ++producer) {
    for (word round = 1; round <= 3; ++round) {
      const word value = static_cast<word>(producer) * 1000 + round;
      REQUIRE_OK(quire_produce_begin(start, pages * page, producer));
      if (quire_node() == producer) {
        for (std::size_t p = 0; p < pages; p += 3) words[p * page_words + round] = value;
      }
      REQUIRE_OK(quire_produce_end(start, pages * page, producer));
      const auto before = counters();
      for (std::size_t p = 0; p < pages; p += 3) REQUIRE_EQUAL(words[p * page_words + round], value);
      REQUIRE_EQUAL(faults(counters()), faults(before));
      barrier();
    }
  }
}

/// Reading in the phase is not writing: nothing is sent.
void only_what_was_written() {
  auto* volatile words = shared_region<word>("read", pages * page, region_options(page, QUIRE_PLACE_NODE, 0));
  auto* const start = const_cast<word*>(words);
  if (quire_node() == 0) {
    for (std::size_t p = 0; p < pages; ++p) words[p * page_words] = p + 1;
  }
  barrier();
  const auto before = counters();
  REQUIRE_OK(quire_produce_begin(start, pages * page, 0));
  if (quire_node() == 0) {
    for (std::size_t p = 0; p < pages; ++p) REQUIRE_EQUAL(words[p * page_words], p + 1);
    words[5 * page_words] = 77;
    word old = 0;
    REQUIRE_OK(quire_fetch_add(start + 7 * page_words, 10, &old));
  }
  REQUIRE_OK(quire_produce_end(start, pages * page, 0));
  const auto after = counters();
  const auto sent = after.bytes_sent - before.bytes_sent;
  REQUIRE(sent < (2 * 4 + 4) * page);  // two pages to four nodes at most, and small messages
  REQUIRE_EQUAL(words[5 * page_words], 77);
  REQUIRE_EQUAL(words[7 * page_words], 18);
  REQUIRE_EQUAL(faults(counters()), faults(after));
  barrier();
}

void facade() {
  auto* const words = shared_region<word>("facade", 4 * page, region_options(page, QUIRE_PLACE_BLOCK));
  barrier();
  {
    const quire::production phase(std::span(words, 4 * page_words), 0);
    if (quire_node() == 0) words[1] = 5;
  }
  REQUIRE_EQUAL(words[1], 5);
  barrier();
}

void bad_calls() {
  auto* const words = shared_region<word>("bad", page, region_options(page, QUIRE_PLACE_BLOCK));
  auto about = region_options(page, QUIRE_PLACE_BLOCK);
  about.consistency = QUIRE_RELEASE;
  auto* const relaxed = shared_region<word>("bad relaxed", page, about);
  barrier();
  REQUIRE_STATUS(quire_produce_begin(words, 0, 0), QUIRE_INVALID);
  REQUIRE_STATUS(quire_produce_begin(words, page, quire_nodes()), QUIRE_INVALID);
  REQUIRE_STATUS(quire_produce_begin(words, page, -1), QUIRE_INVALID);
  REQUIRE_STATUS(quire_produce_begin(&about, page, 0), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_produce_end(&about, page, 0), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_produce_begin(relaxed, page, quire_node()), QUIRE_UNSUPPORTED);
  if (quire_node() == 0) REQUIRE_OK(quire_acquire(words, 8, -1, nullptr));
  REQUIRE_OK(quire_produce_begin(words, page, 0));
  REQUIRE_STATUS(quire_produce_end(words, page, 0), quire_node() == 0 ? QUIRE_BUSY : QUIRE_OK);
  if (quire_node() == 0) REQUIRE_OK(quire_release(words, 8));
  barrier();
}

}  // namespace

int main() {
  return node_main([] {
    section("phases, blocks", [] { phases(page, QUIRE_PLACE_BLOCK, "p block"); });
    section("phases, one home, 16 KiB", [] { phases(4 * page, QUIRE_PLACE_NODE, "p node"); });
    section("phases, modulo", [] { phases(page, QUIRE_PLACE_MODULO, "p modulo"); });
    section("only what was written", only_what_was_written);
    section("facade", facade);
    section("bad calls", bad_calls);
  });
}
