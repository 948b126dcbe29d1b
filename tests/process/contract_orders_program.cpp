// SPDX-License-Identifier: BSD-3-Clause
// Contract: plain flags in a region that orders (quire_region_options::orders) hand on data in regions with release
// consistency, and nothing else synchronises: loads and stores, instructions that lock, Quire's atomic operations, and
// flags that a third node passes on. With the argument "apart" the region need not order in one memory.
#include <quire/system.h>
#include <sched.h>

#include <atomic>
#include <string>
#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

int g_orders = 1;
constexpr std::size_t words_of_page = 512, data_pages = 4, rounds = 60;

struct shared {
  std::uint64_t* flags;  ///< sequential, a page each
  std::uint64_t* data;   ///< release
};

shared make(const char* name) {
  quire_region_options orders = region_options(4096, QUIRE_PLACE_MODULO),
                       released = region_options(4096, QUIRE_PLACE_MODULO);
  orders.orders = g_orders;
  released.consistency = QUIRE_RELEASE;
  const std::string flags = std::string(name) + " flags", data = std::string(name) + " data";
  return {shared_region<std::uint64_t>(flags.c_str(), 2 * 4096, orders),
          shared_region<std::uint64_t>(data.c_str(), data_pages * 4096, released)};
}

/// All nodes write into all pages, beside one another; the sum of a round says what is there.
void write_round(std::uint64_t* data, std::uint64_t round) {
  const auto self = static_cast<std::uint64_t>(quire_node());
  for (std::size_t page = 0; page < data_pages; ++page) data[page * words_of_page + self] = round * 100 + page;
}
void check_round(const std::uint64_t* data, std::uint64_t writer, std::uint64_t round) {
  for (std::size_t page = 0; page < data_pages; ++page)
    REQUIRE_EQUAL(data[page * words_of_page + writer], round * 100 + page);
}

/// The flag goes round: who sees its own turn finds what all others have written before.
template <class Read, class Write>
void turns(const char* name, Read read, Write write) {
  const shared all = make(name);
  const auto self = static_cast<std::uint64_t>(quire_node()), nodes = static_cast<std::uint64_t>(quire_nodes());
  for (std::size_t page = 0; page < data_pages; ++page)
    REQUIRE_EQUAL(all.data[page * words_of_page], 0);  // a copy everywhere
  barrier();
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    while (read(all.flags) != (round - 1) * nodes + self) sched_yield();
    for (std::uint64_t writer = 0; writer < nodes; ++writer) {
      if (const std::uint64_t last = writer < self ? round : round - 1; last != 0) check_round(all.data, writer, last);
    }
    write_round(all.data, round);
    write(all.flags);
  }
  barrier();
}

std::uint64_t load(std::uint64_t* flag) { return std::atomic_ref(*flag).load(std::memory_order_acquire); }

void plain_words() {
  turns("plain", load,
        [](std::uint64_t* flag) { std::atomic_ref(*flag).store(load(flag) + 1, std::memory_order_release); });
}
void locked_instructions() {
  turns(
      "locked", [](std::uint64_t* flag) { return std::atomic_ref(*flag).fetch_add(0); },
      [](std::uint64_t* flag) { ++std::atomic_ref(*flag); });
}
void operations() {
  const auto add = [](std::uint64_t* flag, std::uint64_t value) {
    std::uint64_t before = 0;
    REQUIRE_OK(quire_fetch_add(flag, value, &before));
    return before;
  };
  turns(
      "operations", [&](std::uint64_t* flag) { return add(flag, 0); },
      [&](std::uint64_t* flag) { (void)add(flag, 1); });
  turns("mixed", load, [&](std::uint64_t* flag) { (void)add(flag, 1); });
}

/// The last node writes; the first one hears of it by a flag, and tells the others by another.
void passed_on() {
  const shared all = make("passed on");
  std::uint64_t *first = all.flags, *second = all.flags + words_of_page;
  const int self = quire_node(), last = quire_nodes() - 1;
  const auto writer = static_cast<std::uint64_t>(last);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (self == last) {
      write_round(all.data, round);
      std::atomic_ref(*first).store(round, std::memory_order_release);
    } else if (self == 0) {
      while (load(first) != round) sched_yield();
      std::atomic_ref(*second).store(round, std::memory_order_release);
    }
    while (load(second) != round) sched_yield();
    check_round(all.data, writer, round);
    barrier();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "apart") g_orders = QUIRE_ORDERS_APART;
  return node_main([] {
    section("plain words", plain_words);
    section("instructions that lock", locked_instructions);
    section("operations", operations);
    section("passed on", passed_on);
  });
}
