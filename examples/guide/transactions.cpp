// SPDX-License-Identifier: BSD-3-Clause
// Programming without locks, of docs/guide/transactions.md: quire run -n 2 guide/transactions
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>

#include <quire/quire.hpp>
#include <quire/loop.h>
#include <quire/transaction.hpp>

namespace {

struct account {
  std::int64_t balance = 0;
};

struct mailbox {
  bool full = false;
  int letter = 0;
};

std::uint64_t* g_visits = nullptr;

// [task]
void visit(std::uint64_t left) {
  ++*g_visits;
  if (left == 0) {
    (void)quire_loop_stop();
    return;
  }
  const quire_task_options next{sizeof next, (quire::node() + 1) % quire::nodes(), 4, 0, 0};
  (void)!quire_task_register(visit, left - 1, &next, nullptr);
}
// [/task]

}  // namespace

int main() {
  quire::session job;
  const auto self = static_cast<unsigned>(job.node());
  // [create]
  const auto bank = quire::from_node(0, [] { return quire::region::create(1 << 20, {.consistency = quire::consistency::transactional}); });
  const std::span<account> accounts = bank.span<account>().first(1000);
  // [/create]
  if (self == 0) quire::atomically([&] { accounts[0].balance = 1'000'000; });
  quire::barrier{}.arrive_and_wait();

  std::minstd_rand random(self + 1);
  for (int i = 0; i < 500; ++i) {
    const std::size_t a = random() % accounts.size(), b = random() % accounts.size();
    const std::int64_t amount = static_cast<std::int64_t>(random() % 100);
    // [transfer]
    const bool done = quire::atomically([&] {
      if (accounts[a].balance < amount) return false;
      accounts[a].balance -= amount;
      accounts[b].balance += amount;
      return true;
    });
    // [/transfer]
    (void)done;
  }
  // [audit]
  const std::int64_t all = quire::atomically([&] {
    std::int64_t sum = 0;
    for (const account& each : accounts) sum += each.balance;
    return sum;
  });
  // [/audit]
  quire::barrier{}.arrive_and_wait();

  auto& box = *reinterpret_cast<mailbox*>(&bank.bytes()[64 << 10]);
  int letters = 0;
  for (int i = 0; i < 20; ++i) {
    if (self == 0) {
      // [put]
      quire::atomically([&] {
        if (box.full) quire::retry();
        box = {true, i};
      });
      // [/put]
    }
    if (self == static_cast<unsigned>(job.nodes()) - 1) {
      // [get]
      const int letter = quire::atomically([&] {
        if (!box.full) quire::retry();
        box.full = false;
        return box.letter;
      });
      // [/get]
      letters += letter == i ? 1 : 0;
    }
  }
  quire::barrier{}.arrive_and_wait();

  g_visits = reinterpret_cast<std::uint64_t*>(&bank.bytes()[128 << 10]);
  // [loop]
  if (self == 0) quire::detail::check(quire_task_register(visit, 9, nullptr, nullptr), "visit");
  quire_loop_run();
  // [/loop]
  const std::uint64_t visits = quire::atomically([] { return *g_visits; });
  quire::atomically([&] {
    // [output]
    quire::irrevocable();
    std::printf("node %d sees %lld in the bank\n", quire::node(), static_cast<long long>(all));
    // [/output]
  });
  const bool right = all == 1'000'000 && visits == 10 && (letters == 20 || self + 1 != static_cast<unsigned>(job.nodes()));
  std::printf("transactions are %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
