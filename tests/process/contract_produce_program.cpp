// SPDX-License-Identifier: BSD-3-Clause
// Contract of page broadcasting (KOAN): at the end of a production phase every node has what the producer wrote, and
// reads it without a fault; what was not written is not sent; nobody sends more than a few copies of a page. With
// "release" (and "scan") under release consistency; where written pages are scanned for, a node that may have written a
// page beside may fetch it after all.
#include <algorithm>
#include <string_view>

#include <quire/memory.hpp>

#include "node.hpp"

using namespace quire::test;

namespace {

// A unit each, of which there are fewer where they are large.
const std::size_t page = unit_at_least(4096), page_words = page / sizeof(std::uint64_t),
                  pages = page > 64 * 1024 ? 12 : 96;
const std::size_t pushed = std::min<std::size_t>(pages, 40);
using word = std::uint64_t;

bool relaxed = false, scans = false;

quire_region_options about(std::size_t unit, quire_placement placement) {
  quire_region_options o = region_options(unit, placement, 0);
  if (relaxed) o.consistency = QUIRE_RELEASE;
  if (scans) o.detector = QUIRE_DETECT_SCAN;
  return o;
}

std::uint64_t faults(const quire_counters& c) { return c.read_faults + c.write_faults + c.upgrade_faults; }

/// Who wrote alone may be fetching the content again, with the home.
void require_no_faults(const quire_counters& before, int writer) {
  if (!scans && !(relaxed && quire_node() == writer)) REQUIRE_EQUAL(faults(counters()), faults(before));
}

/// Every producer in turn; of every third page something is written.
void phases(std::size_t unit, quire_placement placement, const char* name) {
  auto* volatile words = shared_region<word>(name, pages * page, about(unit, placement));
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
      require_no_faults(before, producer);
      barrier();
    }
  }
}

/// Reading in the phase is not writing: nothing is sent.
void only_what_was_written() {
  auto* volatile words = shared_region<word>("read", pages * page, about(page, QUIRE_PLACE_NODE));
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
  if (!scans) REQUIRE_EQUAL(faults(counters()), faults(after));
  barrier();
}

/// Under release consistency other nodes may write other words of the same pages meanwhile; whatever is sent, nothing
/// gets old.
void beside_other_writers() {
  auto* volatile words = shared_region<word>("beside", 8 * page, about(page, QUIRE_PLACE_MODULO));
  auto* const start = const_cast<word*>(words);
  quire_mutex mutex{};
  if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(&mutex));
  REQUIRE_OK(quire_broadcast(&mutex, sizeof mutex, 0));
  const auto count = static_cast<word>(quire_nodes()), mine = static_cast<word>(quire_node());
  for (word round = 1; round <= 30; ++round) {
    const int producer = static_cast<int>(round % count);
    REQUIRE_OK(quire_produce_begin(start, 8 * page, producer));
    on_threads(2, [&](int thread) {
      for (std::size_t p = 0; p < 8; ++p) {
        if (thread == 0) {
          if (quire_node() == producer) words[p * page_words] = round;
          words[p * page_words + 8 + mine] = round * 10 + p;  // of this node
        } else if (p % 4 == 0) {
          REQUIRE_OK(quire_mutex_lock(mutex));
          words[p * page_words + 100] = words[p * page_words + 100] + 1;
          REQUIRE_OK(quire_mutex_unlock(mutex));
        }
      }
    });
    REQUIRE_OK(quire_produce_end(start, 8 * page, producer));
    for (std::size_t p = 0; p < 8; ++p) {
      REQUIRE_EQUAL(words[p * page_words], round);
      for (word n = 0; n < count; ++n) REQUIRE_EQUAL(words[p * page_words + 8 + n], round * 10 + p);
      if (p % 4 == 0) REQUIRE_EQUAL(words[p * page_words + 100], round * count);
    }
    barrier();
  }
}

/// What was written is with all who have no copy when the call ends, and is seen there by who acquires.
void push() {
  auto* volatile words = shared_region<word>("push", pushed * page, about(page, QUIRE_PLACE_BLOCK));
  auto* const start = const_cast<word*>(words);
  barrier();
  for (int sender = 0; sender < quire_nodes(); ++sender) {
    if (quire_node() == sender) {
      for (std::size_t p = 0; p < pushed; ++p) words[p * page_words + 3] = p + static_cast<word>(sender);
      REQUIRE_OK(quire_push(start, pushed * page));
    }
    barrier();
    const auto before = counters();
    for (std::size_t p = 0; p < pushed; ++p) REQUIRE_EQUAL(words[p * page_words + 3], p + static_cast<word>(sender));
    require_no_faults(before, sender);
    barrier();
  }
}

void facade() {
  auto* const words = shared_region<word>("facade", 4 * page, about(page, QUIRE_PLACE_BLOCK));
  barrier();
  {
    const quire::production phase(std::span(words, 4 * page_words), 0);
    if (quire_node() == 0) words[1] = 5;
  }
  REQUIRE_EQUAL(words[1], 5);
  barrier();
}

void bad_calls() {
  auto* const words = shared_region<word>("bad", page, about(page, QUIRE_PLACE_BLOCK));
  word local = 0;
  barrier();
  REQUIRE_STATUS(quire_produce_begin(words, 0, 0), QUIRE_INVALID);
  REQUIRE_STATUS(quire_produce_begin(words, page, quire_nodes()), QUIRE_INVALID);
  REQUIRE_STATUS(quire_produce_begin(words, page, -1), QUIRE_INVALID);
  REQUIRE_STATUS(quire_produce_begin(&local, page, 0), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_produce_end(&local, page, 0), QUIRE_BAD_ADDRESS);
  quire_region region{};
  REQUIRE_OK(quire_region_of(words, &region));
  REQUIRE_OK(quire_block_begin(region, 0));
  REQUIRE_STATUS(quire_produce_begin(words, page, quire_node()), QUIRE_UNSUPPORTED);
  REQUIRE_STATUS(quire_push(words, page), QUIRE_UNSUPPORTED);
  REQUIRE_OK(quire_block_end(region, nullptr));
  if (quire_node() == 0) REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
  REQUIRE_OK(quire_produce_begin(words, page, 0));
  REQUIRE_STATUS(quire_produce_end(words, page, 0), quire_node() == 0 ? QUIRE_BUSY : QUIRE_OK);
  if (quire_node() == 0) REQUIRE_OK(quire_unpin(words, 8));
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  scans = how == "scan";
  relaxed = scans || how == "release";
  return node_main([] {
    if (relaxed) {
      section("beside other writers", beside_other_writers);
      section("push", push);
    }
    section("phases, blocks", [] { phases(page, QUIRE_PLACE_BLOCK, "p block"); });
    section("phases, one home, 16 KiB",
            [] { phases(std::min<std::size_t>(4 * page, 2u << 20), QUIRE_PLACE_NODE, "p node"); });
    section("phases, modulo", [] { phases(page, QUIRE_PLACE_MODULO, "p modulo"); });
    section("only what was written", only_what_was_written);
    section("facade", facade);
    section("bad calls", bad_calls);
  });
}
