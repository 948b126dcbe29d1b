// SPDX-License-Identifier: BSD-3-Clause
// The bank of job/transactions.cpp in one process, by gcc's transactions (libitm, -fgnu-tm), which instruments each
// load and store, and under a std::mutex. No memory is shared between nodes: what is compared is the price of a
// transaction.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t rounds = 5, transfers = 200'000, accounts = 1024, most_threads = 2;
};

/// An account, in a page of its own.
struct alignas(4096) account {
  std::int64_t balance = 0;
};

/// One for each transfer of some thread.
void transfer(std::vector<account>& bank, std::uint64_t transfers, unsigned seed, std::mutex* guard) {
  std::minstd_rand random(seed);
  for (std::uint64_t i = 0; i < transfers; ++i) {
    std::int64_t* const from = &bank[random() % bank.size()].balance;
    std::int64_t* const to = &bank[random() % bank.size()].balance;
    const auto amount = static_cast<std::int64_t>(random() % 100);
    if (guard != nullptr) {
      const std::scoped_lock lock(*guard);
      *from -= amount;
      *to += amount;
    } else {
      __transaction_atomic {
        *from -= amount;
        *to += amount;
      }
    }
  }
}

/// Microseconds a transfer.
double measure(std::vector<account>& bank, const settings& wanted, std::uint64_t threads, std::mutex* guard) {
  std::vector<std::thread> all;
  const auto start = bench::now_ns();
  for (unsigned t = 0; t < threads; ++t) all.emplace_back([&, t] { transfer(bank, wanted.transfers, t + 1, guard); });
  for (std::thread& one : all) one.join();
  return static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(wanted.transfers * threads);
}

void run(const settings& wanted, const std::string& name, std::uint64_t accounts) {
  std::vector<account> bank(accounts);
  std::mutex guard;
  for (std::uint64_t threads = 1; threads <= wanted.most_threads; ++threads) {
    const std::string whole = "bank " + name + (threads == 1 ? "" : ", " + std::to_string(threads) + " threads");
    bench::samples by_transactions(whole, "us"), by_mutex(whole + " under a mutex", "us");
    for (std::uint64_t round = 0; round <= wanted.rounds; ++round) {
      const double a = measure(bank, wanted, threads, nullptr), b = measure(bank, wanted, threads, &guard);
      if (round == 0) continue;
      by_transactions.add(a);
      by_mutex.add(b);
    }
    by_transactions.print();
    by_mutex.print();
  }
  std::int64_t sum = 0;
  for (const account& a : bank) sum += a.balance;
  if (sum != 0) throw std::runtime_error("money has been made, or lost");
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "The bank of quire_transactions by gcc's transactions (libitm), and under a std::mutex, in one process.");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "measurements of each kind");
  here.add_number("--transfers", wanted.transfers, 1, 1 << 30, "of each thread");
  here.add_number("--accounts", wanted.accounts, 1, 1 << 16, "of the bank");
  here.add_number("--threads", wanted.most_threads, 1, 64, "at most");
  return here.run(argc, argv, [&] {
    run(wanted, "uniform", wanted.accounts);
    run(wanted, "hot", 1);
  });
}
