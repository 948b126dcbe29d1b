// SPDX-License-Identifier: BSD-3-Clause
// quire_transactions: what transactions cost (node 0, while the others do nothing), and a bank whose accounts have a
// page each: transfers of all nodes as transactions, and under one quire::mutex, in turn. For any number of nodes.
#include <atomic>
#include <memory>
#include <mutex>
#include <random>

#include <quire/quire.hpp>
#include <quire/transaction.hpp>

#include "common/clock.hpp"
#include "common/job.hpp"
#include "common/program.hpp"
#include "common/ratio.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t times = 2000;
  std::uint64_t rounds = 5;
  std::uint64_t transfers = 1000;
  std::uint64_t accounts = 1024;
};

constexpr std::size_t page_bytes = 4096;

/// A word in a page of its own.
class words {
 public:
  words(quire::consistency how, std::uint64_t count)
      : at_(quire::from_node(0,
                             [&] {
                               return quire::region::create(count * page_bytes,
                                                            {.consistency = how, .place = quire::placement::modulo});
                             })
                .bytes()
                .data()) {}
  volatile std::int64_t& operator[](std::size_t i) const noexcept {
    return *reinterpret_cast<volatile std::int64_t*>(at_ + i * page_bytes);
  }

 private:
  std::byte* at_;
};

void meet() { quire::barrier{}.arrive_and_wait(); }

/// On node 0; the others wait, or do `beside` before each time.
template <class Work>
void measure(const quire::session& job, const char* name, const settings& wanted, const Work& work) {
  bench::samples times(name, "us");
  for (std::uint64_t round = 0; round <= wanted.rounds; ++round) {
    meet();
    if (job.node() != 0) continue;
    const auto start = bench::now_ns();
    for (std::uint64_t i = 0; i < wanted.times; ++i) work(i);
    if (round != 0) times.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(wanted.times));
  }
  meet();
  if (job.node() == 0) times.print();
}

void measure_costs(const quire::session& job, const settings& wanted) {
  constexpr std::uint64_t pages = 512;
  const words at(quire::consistency::transactional, pages + 1);
  if (job.node() == 0) {
    for (std::uint64_t i = 0; i < pages; ++i) quire::atomically([&] { at[i] = 1; });
  }
  measure(job, "empty", wanted, [](std::uint64_t) { quire::atomically([] {}); });
  measure(job, "read", wanted, [&](std::uint64_t) { (void)quire::atomically([&] { return std::int64_t{at[0]}; }); });
  measure(job, "write the same page", wanted, [&](std::uint64_t) { quire::atomically([&] { at[0] = at[0] + 1; }); });
  measure(job, "write another page", wanted,
          [&](std::uint64_t i) { quire::atomically([&] { at[i % pages] = at[i % pages] + 1; }); });
  if (job.nodes() == 1) return;
  // The last node reads the page each time; beside it the same on a sequential page.
  const words plain(quire::consistency::sequential, 1);
  bench::samples commit("commit of a page that another node reads", "us"), upgrade("upgrade of such a page", "us");
  const bool reads = job.node() == job.nodes() - 1;
  for (std::uint64_t i = 0; i < wanted.times / 4; ++i) {
    if (job.node() == 0) {  // a copy, and the right to read
      (void)std::int64_t{at[pages]};
      (void)std::int64_t{plain[0]};
    }
    meet();
    if (reads && (at[pages] != static_cast<std::int64_t>(i) || plain[0] != static_cast<std::int64_t>(i)))
      throw std::runtime_error("a page is old");
    meet();
    if (job.node() == 0) {
      commit.time([&] { quire::atomically([&] { at[pages] = at[pages] + 1; }); });
      upgrade.time([&] { plain[0] = plain[0] + 1; });
    }
    meet();
  }
  if (job.node() == 0) {
    commit.print();
    upgrade.print();
  }
}

/// Transfers of all nodes: microseconds for each.
template <class Transfer>
double transfer(const quire::session& job, const settings& wanted, std::uint64_t accounts, const Transfer& one) {
  std::minstd_rand random(static_cast<unsigned>(job.node()) + 1);
  meet();
  const auto start = bench::now_ns();
  for (std::uint64_t i = 0; i < wanted.transfers; ++i)
    one(random() % accounts, random() % accounts, static_cast<std::int64_t>(random() % 100));
  meet();
  return static_cast<double>(bench::now_ns() - start) / 1000 /
         static_cast<double>(wanted.transfers * static_cast<std::uint64_t>(job.nodes()));
}

void measure_bank(const quire::session& job, const settings& wanted, const char* name, std::uint64_t accounts) {
  const words at(quire::consistency::transactional, accounts), plain(quire::consistency::sequential, accounts);
  auto guard = quire::from_node(0, [] { return quire::mutex::create(); });
  bench::samples by_transactions(std::string("bank ") + name, "us"),
      by_mutex(std::string("bank ") + name + " under a mutex", "us");
  bench::ratio gain(std::string("bank ") + name, "of a mutex");
  for (std::uint64_t round = 0; round <= wanted.rounds; ++round) {
    const double a = transfer(job, wanted, accounts, [&](std::size_t from, std::size_t to, std::int64_t amount) {
      quire::atomically([&] {
        at[from] = at[from] - amount;
        at[to] = at[to] + amount;
      });
    });
    const double b = transfer(job, wanted, accounts, [&](std::size_t from, std::size_t to, std::int64_t amount) {
      const std::scoped_lock lock(guard);
      plain[from] = plain[from] - amount;
      plain[to] = plain[to] + amount;
    });
    if (round == 0) continue;
    by_transactions.add(a);
    by_mutex.add(b);
    gain.add(a, b);
  }
  const std::int64_t sum = quire::atomically([&] {
    std::int64_t all = 0;
    for (std::uint64_t i = 0; i < accounts; ++i) all += at[i];
    return all;
  });
  if (sum != 0) throw std::runtime_error("money has been made, or lost");
  meet();
  if (job.node() != 0) return;
  by_transactions.print();
  by_mutex.print();
  gain.print();
}

void run(const settings& wanted) {
  const quire::session job;
  measure_costs(job, wanted);
  measure_bank(job, wanted, "uniform", wanted.accounts);
  measure_bank(job, wanted, "hot", 1);
  const auto now = quire::counters();
  if (job.node() == 0) {
    bench::samples aborted("begun again", "of 100 commits");
    aborted.add(100.0 * static_cast<double>(now.dooms) / static_cast<double>(now.commits));
    aborted.print();
  }
  meet();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "What transactions cost, and a bank by transactions and under a mutex. Start it as `quire run -n 2 "
      "quire_transactions`.");
  here.add_number("--times", wanted.times, 8, 1 << 20, "transactions of a measurement");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "measurements of each kind");
  here.add_number("--transfers", wanted.transfers, 1, 1 << 20, "of each node");
  here.add_number("--accounts", wanted.accounts, 1, 1 << 16, "of the bank");
  return here.run(argc, argv, [&] { run(wanted); });
}
