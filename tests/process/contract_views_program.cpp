// SPDX-License-Identifier: BSD-3-Clause
// Contract: units smaller than a page (MultiView). Neighbours on one page do not disturb each other, both views of a
// byte are the same memory, and what nodes do with one unit is as it is with pages: atomic operations, hints, pushes,
// production phases, page locking, system calls, release consistency. Sizes that are powers of two, and others.
#include <quire/quire.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;

quire_region_options minipages(std::size_t bytes, quire_consistency consistency) {
  quire_region_options about = region_options(0, QUIRE_PLACE_MODULO);
  about.minipage_bytes = bytes;
  about.consistency = consistency;
  return about;
}
std::uint64_t messages() {
  quire_counters now{};
  now.size = sizeof now;
  REQUIRE_OK(quire_counters_read(&now));
  return now.messages_sent;
}

/// The first word of minipage `i`.
std::uint64_t* minipage(std::uint64_t* base, std::size_t bytes, std::size_t i) {
  const std::size_t each = page / bytes;
  return fine(base + i / each * (page / 8) + i % each * (bytes / 8));
}

void addresses(std::size_t bytes) {
  auto* const base =
      shared_region<std::uint64_t>("addresses " + std::to_string(bytes), 3 * page, minipages(bytes, QUIRE_SEQUENTIAL));
  const std::size_t each = page / bytes;
  for (std::size_t i = 0; i < 3 * each; ++i) {
    std::uint64_t* const at = minipage(base, bytes, i);
    REQUIRE(natural(at) == base + i / each * (page / 8) + i % each * (bytes / 8));
    REQUIRE(fine(at) == at && natural(natural(at)) == natural(at));
    void* first = nullptr;
    std::size_t size = 0;
    REQUIRE_OK(quire_minipage_of(at, &first, &size));
    REQUIRE(first == at);
    REQUIRE_EQUAL(size, i % each == each - 1 ? page - (each - 1) * bytes : bytes);
    REQUIRE_OK(quire_minipage_of(natural(at) + 1, &first, nullptr));
    REQUIRE(first == at);
    void* other = nullptr;
    if (i % each != 0) REQUIRE_STATUS(quire_view(at - 1, QUIRE_NATURAL, &other), QUIRE_BAD_ADDRESS);
    REQUIRE_STATUS(quire_prefetch(at, size + 1, 0), QUIRE_BAD_ADDRESS);
    REQUIRE_OK(quire_prefetch(natural(at), i == 3 * each - 1 ? 1 : size + 1, 0));
  }
  int own = 0;
  void* same = nullptr;
  REQUIRE_STATUS(quire_view(&own, QUIRE_FINE, &same), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_view(base, static_cast<quire_view_kind>(2), &same), QUIRE_INVALID);
  REQUIRE_STATUS(quire_view(base, QUIRE_FINE, nullptr), QUIRE_INVALID);
  auto* const plain = shared_object<std::uint64_t>("plain " + std::to_string(bytes));
  REQUIRE(fine(plain) == plain && natural(plain) == plain);
  barrier();
}

/// Each node has every n-th minipage, and the others' stay away.
void neighbours(std::size_t bytes, quire_consistency consistency) {
  auto* const base = shared_region<std::uint64_t>("neighbours " + std::to_string(bytes) + std::to_string(consistency),
                                                  2 * page, minipages(bytes, consistency));
  const std::size_t count = 2 * (page / bytes), words = bytes / 8;
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  constexpr std::uint64_t rounds = 200;
  for (std::size_t i = self; i < count; i += nodes) *minipage(base, bytes, i) = 0;
  barrier();
  const std::uint64_t before = messages();
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (std::size_t i = self; i < count; i += nodes) {
      std::uint64_t* const at = minipage(base, bytes, i);
      for (std::size_t word = 0; word < words; ++word)
        std::atomic_ref(at[word]).store(round * 1000 + i, std::memory_order_relaxed);
    }
  }
  const std::uint64_t sent = messages() - before;
  if (consistency == QUIRE_SEQUENTIAL && sent > 20)
    fail(__FILE__, __LINE__, "%lu messages, though nobody shares a unit", static_cast<unsigned long>(sent));
  barrier();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t* const at = i % 2 == 0 ? minipage(base, bytes, i) : natural(minipage(base, bytes, i));
    for (std::size_t word = 0; word < words; ++word) REQUIRE_EQUAL(at[word], rounds * 1000 + i);
  }
  barrier();
}

/// Counters under one lock, by whichever view.
void views_of_one_memory(std::size_t bytes, quire_consistency consistency) {
  auto* const base = shared_region<std::uint64_t>("views " + std::to_string(bytes) + std::to_string(consistency), page,
                                                  minipages(bytes, consistency));
  auto* const mutex = shared_object<quire_mutex>("mutex " + std::to_string(bytes) + std::to_string(consistency));
  if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(mutex));
  barrier();
  random_numbers draw(static_cast<std::uint64_t>(quire_node()) + 1);
  const std::size_t count = page / bytes;
  std::uint64_t own = 0;
  for (unsigned i = 0; i < 150; ++i) {
    REQUIRE_OK(quire_mutex_lock(*mutex));
    std::uint64_t* at = minipage(base, bytes, draw.below(count));
    if (draw.below(2) == 0) at = natural(at);
    ++*at;
    ++own;
    REQUIRE_OK(quire_mutex_unlock(*mutex));
  }
  barrier();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += *minipage(base, bytes, i);
  REQUIRE_EQUAL(sum, own * static_cast<std::uint64_t>(quire_nodes()));
  barrier();
}

/// Functions of libraries read texts by vectors, which begin before the text, and end behind it.
void texts(std::size_t bytes) {
  auto* const base =
      shared_region<std::uint64_t>("texts " + std::to_string(bytes), 2 * page, minipages(bytes, QUIRE_SEQUENTIAL));
  const std::size_t each = page / bytes;
  const auto text_of = [](std::size_t i) { return "text " + std::to_string(i); };
  for (std::size_t i = 0; quire_node() == 0 && i < 2 * each; ++i)
    std::strcpy(reinterpret_cast<char*>(minipage(base, bytes, i)), text_of(i).c_str());
  barrier();
  for (std::size_t i = 0; i < 2 * each; ++i) {
    std::uint64_t* const at = minipage(base, bytes, i);
    if (i % 3 == 1 && i % each != 0) (void)static_cast<volatile std::uint64_t*>(at)[-1];
    if (i % 3 == 2 && i % each != each - 1) (void)static_cast<volatile std::uint64_t*>(at)[bytes / 8];
    const char* const text = reinterpret_cast<const char*>(at);
    REQUIRE_EQUAL(std::strlen(text), text_of(i).size());
    REQUIRE(std::strcmp(text, text_of(i).c_str()) == 0);
  }
  barrier();
}

/// Words that all nodes write in turn and read at any time, by pages of the natural view alone: they go to and fro, and
/// nobody starves.
void composed_pages(std::size_t bytes) {
  auto* const base =
      shared_region<std::uint64_t>("composed " + std::to_string(bytes), page, minipages(bytes, QUIRE_SEQUENTIAL));
  const std::size_t words = page / 8;
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  for (std::uint64_t round = 1; round <= 20; ++round) {
    for (std::size_t word = self; word < words; word += nodes)
      std::atomic_ref(base[word]).store(round, std::memory_order_relaxed);
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint64_t seen = std::atomic_ref(base[word]).load(std::memory_order_relaxed);
      REQUIRE(seen <= 20 && (word % nodes != self || seen == round));
    }
  }
  barrier();
  for (std::size_t word = 0; word < words; ++word) REQUIRE_EQUAL(base[word], 20);
  barrier();
}

void calls(std::size_t bytes, quire_consistency consistency) {
  auto* const base = shared_region<std::uint64_t>("calls " + std::to_string(bytes) + std::to_string(consistency),
                                                  2 * page, minipages(bytes, consistency));
  const auto self = quire_node(), nodes = quire_nodes();
  std::uint64_t* const counter = minipage(base, bytes, 1);
  for (unsigned i = 0; i < 50; ++i) {
    std::uint64_t before = 0;
    REQUIRE_OK(quire_fetch_add(i % 2 == 0 ? counter : natural(counter), 1, &before));
  }
  barrier();
  REQUIRE_EQUAL(*counter, 50 * nodes);
  barrier();
  // A push brings it to all.
  std::uint64_t* const pushed = minipage(base, bytes, 2 % (page / bytes) + page / bytes);
  if (self == 0) {
    *pushed = 77;
    REQUIRE_OK(quire_push(pushed, 8));
  }
  barrier();
  const std::uint64_t before = messages();
  REQUIRE_EQUAL(*pushed, 77);
  if (consistency == QUIRE_SEQUENTIAL) REQUIRE_EQUAL(messages() - before, 0);
  barrier();
  // A production phase of all pages.
  REQUIRE_OK(quire_produce_begin(base, 2 * page, nodes - 1));
  if (self == nodes - 1) {
    for (std::size_t word = 0; word < 2 * page / 8; ++word) base[word] = word + 5;
  }
  REQUIRE_OK(quire_produce_end(base, 2 * page, nodes - 1));
  for (std::size_t word = 0; word < 2 * page / 8; ++word) REQUIRE_EQUAL(base[word], word + 5);
  barrier();
  // Page locking of one minipage: its neighbours stay free.
  if (self == 0) REQUIRE_OK(quire_pin(counter, 8, -1, nullptr));
  barrier();
  if (self == nodes - 1 && nodes > 1) {
    int holder = -2;
    REQUIRE_STATUS(quire_pin(counter, 8, 0, &holder), QUIRE_BUSY);
    std::atomic_ref(*minipage(base, bytes, 0)).store(9);
    REQUIRE_OK(quire_pin(minipage(base, bytes, 0), 8, 1000, &holder));
    REQUIRE_OK(quire_unpin(minipage(base, bytes, 0), 8));
  }
  barrier();
  if (self == 0) REQUIRE_OK(quire_unpin(counter, 8));
  barrier();
  REQUIRE_OK(quire_advise(base, 2 * page, QUIRE_WILL_WRITE));
  REQUIRE_OK(quire_advise(base, 2 * page, QUIRE_NORMAL));
  barrier();
}

/// The kernel reads and writes for a thread, in both views.
void system_calls(std::size_t bytes) {
  auto* const base =
      shared_region<std::uint64_t>("system " + std::to_string(bytes), 2 * page, minipages(bytes, QUIRE_SEQUENTIAL));
  const auto self = quire_node();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  for (int node = 0; node < quire_nodes(); ++node) {
    if (node == self) {
      std::vector<std::uint64_t> own(2 * page / 8, static_cast<std::uint64_t>(node) + 10);
      REQUIRE_EQUAL(::write(ends[1], own.data(), 2 * page), 2 * page);
      REQUIRE_EQUAL(::read(ends[0], base, 2 * page), 2 * page);  // composed pages
      REQUIRE_EQUAL(::write(ends[1], own.data(), 8), 8);
      std::uint64_t* const one = minipage(base, bytes, 1);
      REQUIRE_EQUAL(::read(ends[0], one, 8), 8);
      REQUIRE_EQUAL(::write(ends[1], one, 8), 8);
      std::uint64_t back = 0;
      REQUIRE_EQUAL(::read(ends[0], &back, 8), 8);
      REQUIRE_EQUAL(back, node + 10);
    }
    barrier();
    for (std::size_t word = 0; word < 2 * page / 8; ++word) REQUIRE_EQUAL(base[word], node + 10);
    barrier();
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

struct molecule {
  double position[84];
};
static_assert(sizeof(molecule) == 672);

void arrays() {
  auto* const told = shared_object<quire::minipage_array<molecule>>("array");
  auto* const large = shared_object<quire::minipage_array<std::array<double, 700>>>("large array");
  if (quire_node() == 0) {
    *told = quire::minipage_array<molecule>::create(50);
    *large = quire::minipage_array<std::array<double, 700>>::create(3);
  }
  barrier();
  const auto all = *told;
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  for (std::size_t i = self; i < all.size(); i += nodes) {
    for (double& x : all[i].position) x = static_cast<double>(i);
  }
  if (self == 0) (*large)[2][699] = 1.5;
  barrier();
  REQUIRE_EQUAL(all.end() - all.begin(), 50);
  std::size_t i = 0;
  for (const molecule& m : all) REQUIRE(m.position[83] == static_cast<double>(i++));
  for (i = 0; i < all.size(); ++i) REQUIRE(all.natural(i).position[0] == static_cast<double>(i));
  REQUIRE((*large)[2][699] == 1.5 && &(*large)[2] == &large->natural(2));
  barrier();
  if (self == 0) all.destroy();
  if (self == 0) large->destroy();
  barrier();
}

void bad_input() {
  if (quire_node() != 0) return barrier();
  quire_region made{};
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{24}, std::size_t{2064}, std::size_t{4096},
                                  ~std::size_t{0}, std::size_t{1} << 60}) {
    const auto about = minipages(bytes, QUIRE_SEQUENTIAL);
    REQUIRE_STATUS(quire_region_create(&about, page, &made), QUIRE_INVALID);
  }
  for (const std::size_t bytes : {16u, 2048u}) {
    const auto about = minipages(bytes, QUIRE_SEQUENTIAL);
    REQUIRE_OK(quire_region_create(&about, 1, &made));
    REQUIRE_OK(quire_region_destroy(made));
  }
  auto about = minipages(256, QUIRE_SEQUENTIAL);
  about.unit_bytes = 8192;
  REQUIRE_STATUS(quire_region_create(&about, page, &made), QUIRE_INVALID);
  about = minipages(256, QUIRE_SEQUENTIAL);
  about.heap = 1;
  REQUIRE_STATUS(quire_region_create(&about, page, &made), QUIRE_INVALID);
  about = minipages(0, QUIRE_SEQUENTIAL);
  about.views = 16;
  REQUIRE_STATUS(quire_region_create(&about, page, &made), QUIRE_INVALID);
  about.heap = 1;
  for (const int views : {-1, 257, 1 << 30}) {
    about.views = views;
    REQUIRE_STATUS(quire_region_create(&about, page, &made), QUIRE_INVALID);
  }
  about = minipages(16, QUIRE_SEQUENTIAL);
  REQUIRE_STATUS(quire_region_create(&about, std::uint64_t{1} << 50, &made), QUIRE_NO_ADDRESSES);
  REQUIRE_STATUS(quire_region_create(&about, std::uint64_t{1} << 60, &made), QUIRE_NO_ADDRESSES);
  about = minipages(256, QUIRE_SEQUENTIAL);
  about.detector = QUIRE_DETECT_SCAN;
  REQUIRE(quire_region_create(&about, page, &made) != QUIRE_OK);
  barrier();
}

/// The region's consistency changes to and fro, and no content is lost.
void changes() {
  auto* const base = shared_region<std::uint64_t>("changes", page, minipages(256, QUIRE_SEQUENTIAL));
  quire_region region{};
  REQUIRE_OK(quire_region_of(base, &region));
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  for (std::uint64_t round = 1; round <= 6; ++round) {
    for (std::size_t i = self; i < 16; i += nodes)
      (round % 3 == 0 ? natural(minipage(base, 256, i)) : minipage(base, 256, i))[round] = round * 100 + i;
    REQUIRE_OK(quire_region_set_consistency(region, round % 2 == 0 ? QUIRE_SEQUENTIAL : QUIRE_RELEASE));
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::uint64_t before = 1; before <= round; ++before)
        REQUIRE_EQUAL(minipage(base, 256, i)[before], before * 100 + i);
    }
    barrier();
  }
}

/// What ends the program: an access to a place where a fine view shows nothing.
[[noreturn]] void wrong_view() {
  auto* const base = shared_region<volatile std::uint64_t>("wrong", page, minipages(256, QUIRE_SEQUENTIAL));
  barrier();
  std::uint64_t* const at = minipage(const_cast<std::uint64_t*>(base), 256, 3);
  if (quire_node() == 0) static_cast<volatile std::uint64_t*>(at)[-8] = 1;
  sleep_ms(20'000);
  std::exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  const bool wrong = argc > 1 && std::string(argv[1]) == "wrong";
  return node_main([wrong] {
    if (wrong) wrong_view();
    for (const std::size_t bytes : {16u, 160u, 256u, 672u, 2048u}) {
      const std::string of = " of " + std::to_string(bytes);
      section((std::string("addresses") + of).c_str(), [&] { addresses(bytes); });
      section((std::string("system calls") + of).c_str(), [&] { system_calls(bytes); });
      for (const auto consistency : {QUIRE_SEQUENTIAL, QUIRE_RELEASE}) {
        const std::string which = of + (consistency == QUIRE_RELEASE ? ", release" : ", sequential");
        section((std::string("neighbours") + which).c_str(), [&] { neighbours(bytes, consistency); });
        section((std::string("views") + which).c_str(), [&] { views_of_one_memory(bytes, consistency); });
        section((std::string("calls") + which).c_str(), [&] { calls(bytes, consistency); });
      }
    }
    for (const std::size_t bytes : {256u, 1024u})
      section((std::string("composed pages of ") + std::to_string(bytes)).c_str(), [&] { composed_pages(bytes); });
    for (const std::size_t bytes : {16u, 48u})
      section((std::string("texts of ") + std::to_string(bytes)).c_str(), [&] { texts(bytes); });
    section("arrays", arrays);
    section("changes of consistency", changes);
    section("bad input", bad_input);
  });
}
