// SPDX-License-Identifier: BSD-3-Clause
// quire_fault: what faults cost that need the other node, pages in random order. Start it on two nodes. The pages are
// homed at node 0; every round takes them once through all states:
//   node 0 writes them (upgrade: node 1 has copies), node 1 reads, node 1 writes (upgrade: node 0 has copies), node 0
//   writes (miss: node 1 owns them), node 1 reads.
// On more nodes pages go between nodes 1 and 2, while node 0 is the manager of all:
//   node 2 writes them, node 1 reads (node 2 owns them), all others read, node 1 writes (upgrade: all have copies),
//   node 2 writes (node 1 owns them).
#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t pages = 4096;
  std::uint64_t rounds = 3;
};

struct page {
  std::uint64_t version;
  std::array<std::byte, bench::page_bytes - sizeof(std::uint64_t)> rest;
};

class phases {
 public:
  phases(const quire::session& job, std::span<page> pages)
      : node_(job.node()), pages_(pages), order_(bench::random_order(pages.size())) {}

  /// `node` writes all pages; it takes the times if there is somewhere to put them.
  void write(int node, bench::samples* times) {
    ++version_;
    if (node_ == node) {
      for (const std::size_t i : order_) {
        auto& word = static_cast<volatile std::uint64_t&>(pages_[i].version);
        const auto start = bench::now_ns();
        word = version_ + i;
        if (times != nullptr) times->add(static_cast<double>(bench::now_ns() - start) / 1000);
      }
    }
    quire::barrier{}.arrive_and_wait();
  }
  /// `node` reads all pages, and finds what was written last.
  void read(int node, bench::samples& times) {
    if (node_ == node) {
      for (const std::size_t i : order_) {
        const auto& word = static_cast<volatile const std::uint64_t&>(pages_[i].version);
        const auto start = bench::now_ns();
        const std::uint64_t found = word;
        times.add(static_cast<double>(bench::now_ns() - start) / 1000);
        if (found != version_ + i) throw std::runtime_error("a page has an old content");
      }
    }
    quire::barrier{}.arrive_and_wait();
  }

 private:
  int node_;
  std::span<page> pages_;
  std::vector<std::size_t> order_;
  std::uint64_t version_ = 0;
};

/// One after the other, so that lines do not mix.
void print(const quire::session& job, std::initializer_list<const bench::samples*> all) {
  for (int node = 0; node < job.nodes(); ++node) {
    if (job.node() == node)
      for (const auto* times : all) times->print();
    quire::barrier{}.arrive_and_wait();
  }
}

void measure_two(const quire::session& job, phases& work, std::uint64_t rounds) {
  bench::samples read("read_fault", "us"), first_read("first_read_fault", "us"),
      home_upgrade("upgrade_fault_home", "us"), away_upgrade("upgrade_fault_away", "us"), write("write_fault", "us");
  work.write(0, nullptr);
  work.read(1, first_read);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    work.write(0, &home_upgrade);
    work.read(1, read);
    work.write(1, &away_upgrade);
    work.write(0, &write);
    work.read(1, read);
  }
  print(job, {&read, &first_read, &home_upgrade, &away_upgrade, &write});
}

void measure_many(const quire::session& job, phases& work, std::uint64_t rounds) {
  bench::samples read("read_fault_third", "us"), upgrade("upgrade_fault_of_all", "us"),
      write("write_fault_third", "us");
  bench::samples untold("read_fault_of_others", "us");
  work.write(1, nullptr);
  work.write(2, nullptr);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    work.read(1, read);
    for (int node = 0; node < job.nodes(); ++node)
      if (node != 1 && node != 2) work.read(node, untold);
    work.write(1, &upgrade);
    work.write(2, &write);
  }
  print(job, {&read, &upgrade, &write});
}

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes_or_more(job, 2);
  const auto memory = quire::from_node(0, [&] {
    return quire::region::create(wanted.pages * bench::page_bytes, {.place = quire::placement::node, .home = 0});
  });
  phases work(job, memory.span<page>().first(wanted.pages));
  if (job.nodes() == 2)
    measure_two(job, work, wanted.rounds);
  else
    measure_many(job, work, wanted.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "Read, write and upgrade faults on Quire. Start it as `quire run -n 2 quire_fault`, or on more nodes.");
  here.add_number("--pages", wanted.pages, 1, 1 << 20, "pages of 4 KiB");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times through all states");
  return here.run(argc, argv, [&] { run(wanted); });
}
