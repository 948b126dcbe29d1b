// SPDX-License-Identifier: BSD-3-Clause
// Another shared memory system, measured as quire_fault, quire_sweep and quire_sync measure Quire: the same orders,
// phases and names. Built by the scripts here with one of the bodies of system.h; two nodes. Usage: PROGRAM
// [all|faults|sweep] [MEBIBYTES, 16 at least]. "sweep" includes barriers and locks.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/order.hpp"
#include "common/samples.hpp"
#include "peers/system.h"

namespace {

using bench::page_bytes;
constexpr std::size_t fault_pages = 4096, words_per_page = page_bytes / sizeof(std::uint64_t);

/// Node 0 writes the first word of each page; node 1 reads them in random order.
void measure_faults(volatile std::uint64_t* words) {
  constexpr int rounds = 6;
  const auto order = bench::random_order(fault_pages);
  bench::samples first("first_read_fault", "us"), read("read_fault", "us");
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (system_node() == 0)
      for (const std::size_t page : order) words[page * words_per_page] = round + page;
    system_barrier();
    if (system_node() == 1) {
      auto& times = round == 1 ? first : read;
      for (const std::size_t page : order) {
        std::uint64_t found = 0;
        times.time([&] { found = words[page * words_per_page]; });
        if (found != round + page) throw std::runtime_error("a page has an old content");
      }
    }
    system_barrier();
  }
  read.print();
  first.print();
}

/// Node 0 writes everything; node 1 reads a word of each page in order.
void measure_sweep(volatile std::uint64_t* words, std::size_t bytes) {
  constexpr int rounds = 3;
  const std::size_t count = bytes / sizeof(std::uint64_t);
  bench::samples first("sweep_first", "MB/s"), warm("sweep", "MB/s");
  for (std::uint64_t round = 0; round <= rounds; ++round) {
    if (system_node() == 0)
      for (std::size_t i = 0; i < count; ++i) words[i] = round + 1;
    system_barrier();
    if (system_node() == 1) {
      const auto start = bench::now_ns();
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < count; i += words_per_page) sum += words[i];
      const auto ns = static_cast<double>(bench::now_ns() - start);
      if (sum != (round + 1) * (count / words_per_page)) throw std::runtime_error("the memory has an old content");
      (round == 0 ? first : warm).add(static_cast<double>(bytes) / ns * 1000);
    }
    system_barrier();
  }
  first.print();
  warm.print();
}

void measure_synchronisation() {
  constexpr int count = 2000;
  bench::samples barrier("barrier", "us"), lock("lock_unlock", "us");
  for (int i = 0; i < count; ++i) barrier.time(system_barrier);
  for (int i = 0; i < count; ++i) {
    if (i % 2 == system_node())
      lock.time([] {
        system_lock();
        system_unlock();
      });
    system_barrier();
  }
  if (system_node() != 1) return;
  barrier.print();
  lock.print();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const std::size_t bytes = (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 256) << 20;
  system_start(argc, argv, bytes);
  try {
    if (system_nodes() != 2) throw std::runtime_error("this needs two nodes");
    auto* const words = static_cast<std::uint64_t*>(system_allocate(bytes));
    if (what != "sweep") measure_faults(words);
    if (what != "faults") measure_sweep(words, bytes);
    if (what != "faults") measure_synchronisation();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    std::exit(1);
  }
  system_end();
}
