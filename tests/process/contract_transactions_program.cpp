// SPDX-License-Identifier: BSD-3-Clause
// Contract of transactions: each body happens as a whole, on all nodes; no body ever sees half of another's writes;
// what a body undoes, it undoes for all. Parts: the whole, or those that arguments name ("bank litmus"). What goes
// wrong: misuse_transactions_program.cpp.
#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <string_view>

#include <quire/transaction.hpp>

#include "node.hpp"
#include "transactional_words.hpp"
#include "transactions_litmus.hpp"

using namespace quire::test;

namespace {

// ---- Counters

void increments() {
  const int times = times_or_few(300);
  volatile word* const at = make_words("increments", 2);
  for (int i = 0; i < times; ++i) {
    atomically([&] {
      own_unit(at, 0) = own_unit(at, 0) + 1;
      own_unit(at, 1) = own_unit(at, 1) + 2;
    });
  }
  barrier();
  atomically([&] {
    REQUIRE_EQUAL(own_unit(at, 0), times * quire_nodes());
    REQUIRE_EQUAL(own_unit(at, 1), 2 * times * quire_nodes());
  });
  REQUIRE_EQUAL(own_unit(at, 0), times * quire_nodes());  // outside of transactions: what was committed last
  barrier();
}

/// Threads of a node take turns.
void threads() {
  constexpr int count = 4, times = 100;
  volatile word* const at = make_words("threads", 1);
  on_threads(count, [&](int) {
    for (int i = 0; i < times; ++i) atomically([&] { *at = *at + 1; });
  });
  barrier();
  REQUIRE_EQUAL(*at, times * count * quire_nodes());
  barrier();
}

/// Who gets a lock, or comes out of a barrier, sees all commits of who had it before, or came: also those of third
/// nodes that these had seen.
void told() {
  constexpr int times = 60;
  struct shared {
    quire_mutex mutex;
  };
  auto* const all = shared_object<shared>("told");
  volatile word* const at = make_words("told words", 3);
  if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(&all->mutex));
  barrier();
  for (int i = 0; i < times; ++i) {
    REQUIRE_OK(quire_mutex_lock(all->mutex));
    word before = 0, seen = 0;
    atomically([&] { before = own_unit(at, 0); });
    atomically([&] {
      seen = own_unit(at, 0);
      own_unit(at, 0) = before + 1;
      own_unit(at, 1) = own_unit(at, 1) + 1;
    });
    REQUIRE_EQUAL(seen, before);
    REQUIRE_OK(quire_mutex_unlock(all->mutex));
  }
  for (int round = 0; round < times; ++round) {
    if (round % quire_nodes() == quire_node()) atomically([&] { own_unit(at, 2) = static_cast<word>(round) + 1; });
    barrier();
    word seen = 0;
    atomically([&] { seen = own_unit(at, 2); });
    REQUIRE_EQUAL(seen, static_cast<word>(round) + 1);
    barrier();
  }
  atomically([&] {
    REQUIRE_EQUAL(own_unit(at, 0), times * quire_nodes());
    REQUIRE_EQUAL(own_unit(at, 1), times * quire_nodes());
  });
  barrier();
}

/// A write set of many runs of units: by the token it takes several messages.
void scattered() {
  constexpr std::size_t units = 300;
  volatile word* const at = make_words("scattered", units);
  for (int round = 0; round < 4; ++round) {
    if (round % quire_nodes() == quire_node()) {
      atomically([&] {
        for (std::size_t i = 0; i < units; i += 2) own_unit(at, i) = own_unit(at, i) + i + 1;
      });
    }
    barrier();
    word sum = 0;
    atomically([&] {
      sum = 0;
      for (std::size_t i = 0; i < units; ++i) sum += own_unit(at, i);
    });
    REQUIRE_EQUAL(sum, static_cast<word>(round + 1) * (units / 2) * (units / 2));
    barrier();
  }
}

// ---- A bank: money goes from account to account; whoever sees all accounts sees all the money

void bank() {
  constexpr std::size_t accounts = 24, transfers = 400;
  constexpr word start = 1000;
  volatile word* const at = make_words("bank", accounts);
  if (quire_node() == 0) {
    atomically([&] {
      for (std::size_t i = 0; i < accounts; ++i) own_unit(at, i) = start;
    });
  }
  barrier();
  random_numbers random(static_cast<std::uint64_t>(quire_node()) + 1);
  std::atomic<int> left{2};
  std::thread auditor([&] {  // sees a wrong sum inside the body, if there is one
    while (left.load() != 0) {
      atomically([&] {
        word sum = 0;
        for (std::size_t i = 0; i < accounts; ++i) sum += own_unit(at, i);
        if (sum != accounts * start)
          fail(__FILE__, __LINE__, "an auditor sees %lu in a transaction", static_cast<unsigned long>(sum));
      });
      sleep_ms(1);
    }
  });
  for (std::size_t i = 0; i < transfers; ++i) {
    const std::size_t from = random.below(accounts), to = random.below(accounts);
    const word most = random.below(50);
    atomically([&] {
      const word sum = std::min(most, word{own_unit(at, from)});
      own_unit(at, from) = own_unit(at, from) - sum;
      own_unit(at, to) = own_unit(at, to) + sum;
    });
  }
  left = 0;
  auditor.join();
  barrier();
  word sum = 0;
  atomically([&] {
    sum = 0;
    for (std::size_t i = 0; i < accounts; ++i) sum += own_unit(at, i);
  });
  REQUIRE_EQUAL(sum, accounts * start);
  barrier();
}

// ---- Ends of a body

void ends() {
  volatile word* const at = make_words("ends", 4);
  volatile word& mine = own_unit(at, static_cast<std::size_t>(quire_node()) % 4);
  if (quire_node() < 4) {
    // abort: nothing has happened
    atomically([&] { mine = 7; });
    REQUIRE_STATUS(quire_atomically(
                       [](void* p) {
                         *static_cast<volatile word*>(p) = 8;
                         quire_transaction_abort(QUIRE_BUSY);
                       },
                       const_cast<word*>(&mine), nullptr),
                   QUIRE_BUSY);
    REQUIRE_EQUAL(mine, 7);
    // an exception leaves, and undoes
    bool caught = false;
    try {
      atomically([&] {
        mine = 9;
        throw std::runtime_error("away");
      });
    } catch (const std::runtime_error& e) {
      caught = std::string_view(e.what()) == "away";
    }
    REQUIRE(caught && std::uncaught_exceptions() == 0);
    REQUIRE_EQUAL(mine, 7);
    // nested: flat
    REQUIRE_EQUAL(quire::atomically([&] {
                    mine = 10;
                    return quire::atomically([&] {
                      mine = mine + 1;
                      return word{mine};
                    });
                  }),
                  11);
    REQUIRE_EQUAL(mine, 11);
    // what is to be done when it has happened, and when not
    static std::vector<int> calls;
    calls.clear();
    const auto call = [](void* p) { calls.push_back(static_cast<int>(reinterpret_cast<std::intptr_t>(p))); };
    atomically([&] {
      calls.clear();
      for (std::intptr_t i = 1; i <= 3; ++i) {
        REQUIRE_OK(quire_on_commit(call, reinterpret_cast<void*>(i)));
        REQUIRE_OK(quire_on_abort(call, reinterpret_cast<void*>(10 + i)));
      }
      mine = 12;
    });
    REQUIRE(calls == (std::vector{1, 2, 3}));
    calls.clear();
    try {
      atomically([&] {
        calls.clear();
        for (std::intptr_t i = 1; i <= 3; ++i) {
          REQUIRE_OK(quire_on_commit(call, reinterpret_cast<void*>(i)));
          REQUIRE_OK(quire_on_abort(call, reinterpret_cast<void*>(10 + i)));
        }
        mine = 13;
        quire::abort_transaction(quire::errc::busy);
      });
      REQUIRE(!"aborted");
    } catch (const quire::error& e) {
      REQUIRE(e.status() == QUIRE_BUSY);
    }
    REQUIRE(calls == (std::vector{13, 12, 11}));
    REQUIRE_EQUAL(mine, 12);
  }
  REQUIRE(!quire::in_transaction());
  barrier();
}

/// The last node waits for what the first one puts there, without polling.
void retries() {
  constexpr word times = 50;
  volatile word* const at = make_words("retries", 2);
  const int last = quire_nodes() - 1;
  const auto produce = [&] {
    for (word i = 1; i <= times; ++i) {
      atomically([&] {
        if (own_unit(at, 0) != 0) quire::retry();
        own_unit(at, 0) = i;
      });
    }
  };
  const auto consume = [&] {
    for (word i = 1; i <= times; ++i) {
      const word got = quire::atomically([&] {
        const word there = own_unit(at, 0);
        if (there == 0) quire::retry();
        own_unit(at, 0) = 0;
        return there;
      });
      REQUIRE_EQUAL(got, i);
    }
  };
  if (last == 0) {
    std::thread other(produce);
    consume();
    other.join();
  } else if (quire_node() == 0) {
    produce();
  } else if (quire_node() == last) {
    consume();
  }
  barrier();
}

/// Bodies that cannot be undone: each is run once, although others write the same words all the time.
void irrevocable() {
  constexpr word times = 20;
  volatile word* const at = make_words("irrevocable", 1);
  word runs = 0;
  for (word i = 0; i < times; ++i) {
    for (int k = 0; k < 5; ++k) atomically([&] { *at = *at + 1; });
    quire::atomically(
        [&] {
          ++runs;
          *at = *at + 1;
        },
        {.irrevocable = true});
    atomically([&] {
      *at = *at + 1;
      quire::irrevocable();
      ++runs;
    });
  }
  REQUIRE_EQUAL(runs, 2 * times);
  barrier();
  REQUIRE_EQUAL(*at, 7 * times * static_cast<word>(quire_nodes()));
  barrier();
}

/// A body that waits for a flag in a loop is undone when another node writes it: what it sees does not stay old for
/// ever.
void loops_on_a_flag() {
  volatile word* const at = make_words("flag", 1);
  for (word round = 1; round <= 5; ++round) {
    if (quire_node() == quire_nodes() - 1) {
      sleep_ms(5);
      atomically([&] { *at = round; });
    } else {
      atomically([&] {
        while (*at < round) continue;
      });
    }
    barrier();
  }
}

/// A body that writes a file does so once: it cannot be undone from there on.
void files() {
  const word times = static_cast<word>(times_or_few(40));
  volatile word* const at = make_words("files", 1);
  int ends[2];
  REQUIRE_EQUAL(::pipe(ends), 0);
  for (word i = 0; i < times; ++i) {
    atomically([&] {
      *at = *at + 1;
      pause_us(20);
      const word number = *at;
      REQUIRE_EQUAL(::write(ends[1], &number, sizeof number), sizeof number);
      *at = *at + 1;
    });
  }
  ::close(ends[1]);
  // What it has written is what has happened: odd numbers, each greater than that before.
  word got = 0, before = 0, count = 0;
  for (; ::read(ends[0], &got, sizeof got) == static_cast<ssize_t>(sizeof got); before = got, ++count)
    REQUIRE(got % 2 == 1 && got > before);
  ::close(ends[0]);
  REQUIRE_EQUAL(count, times);
  barrier();
  REQUIRE_EQUAL(*at, 2 * times * static_cast<word>(quire_nodes()));
  barrier();
}

/// What stays when a body is undone is called by a body that is not: names, regions, threads on other nodes.
void effects() {
  constexpr word rounds = 5;
  static volatile word* at = nullptr;
  at = make_words("effects", 1);
  barrier();  // threads of others come, and use it
  for (word round = 0; round < rounds; ++round) {
    const std::string name = "effect " + std::to_string(quire_node()) + ' ' + std::to_string(round);
    const quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO);
    word creates = 0, spawns = 0;
    quire_region made{};
    quire_remote_thread thread{};
    const auto body = [&](auto&& effect) {
      atomically([&] {
        *at = *at + 1;
        pause_us(20);
        effect();
        *at = *at + 1;
      });
    };
    body([&] { REQUIRE_OK(quire_publish(name.c_str(), nullptr)); });
    body([&] { REQUIRE_OK(quire_region_create(&about, 1 << 16, &made)), ++creates; });
    body([&] {
      REQUIRE_OK(quire_spawn((quire_node() + 1) % quire_nodes(),
                             [](void* none) {
                               atomically([] { *at = *at + 1; });
                               return none;
                             },
                             nullptr, &thread));
      ++spawns;
    });
    REQUIRE_EQUAL(creates, 1);
    REQUIRE_EQUAL(spawns, 1);
    REQUIRE_OK(quire_join(thread, nullptr));
    REQUIRE_OK(quire_region_destroy(made));
  }
  barrier();
  REQUIRE_EQUAL(*at, 7 * rounds * static_cast<word>(quire_nodes()));
  barrier();
}

/// As often as it is told to, and no more. Node 1 commits while the body of node 0 runs, each time.
void attempts() {
  volatile word* const at = make_words("attempts", 1);
  volatile word* const asked =
      shared_object<word>("attempts_asked", 2 * page_words);  // sequential memory: what a body writes there stays
  volatile word* const done = asked + page_words;
  barrier();
  if (std::getenv("QUIRE_RESTART_EVERY") != nullptr) return;  // there may be fewer that come so far
  for (unsigned most = 1; quire_nodes() > 1 && most <= 3; ++most) {
    word begun = 0;
    if (quire_node() == 0) {
      const auto body = [&] {
        const word was = *at;
        *asked = ++begun;
        while (*done < begun) continue;
        (void)was;
      };
      quire_transaction_options how{};
      how.size = sizeof how;
      how.attempts = most;
      REQUIRE_STATUS(quire_atomically([](void* p) { (*static_cast<decltype(body)*>(p))(); },
                                      const_cast<void*>(static_cast<const void*>(&body)), &how),
                     QUIRE_CONFLICT);
      REQUIRE_EQUAL(begun, most);
    } else if (quire_node() == 1) {
      for (word i = 1; i <= most; ++i) {
        while (*asked < i) continue;
        atomically([&] { *at = *at + 1; });
        *done = i;
      }
    }
    barrier();
    if (quire_node() == 0) {
      *asked = 0;
      *done = 0;
    }
    barrier();
  }
}

/// Memory that a body allocates goes with it; what it frees is freed when it has happened.
void memory() {
  void* kept = nullptr;
  REQUIRE_OK(quire_malloc(100, &kept));
  void* lost = nullptr;
  try {
    atomically([&] {
      REQUIRE_OK(quire_malloc(100, &lost));
      REQUIRE_OK(quire_free(kept));
      REQUIRE_STATUS(quire_free(kept), QUIRE_BAD_ADDRESS);
      quire::abort_transaction(quire::errc::busy);
    });
  } catch (const quire::error&) {
  }
  std::size_t bytes = 0;
  REQUIRE_STATUS(quire_allocation_size(lost, &bytes), QUIRE_BAD_ADDRESS);
  REQUIRE_OK(quire_allocation_size(kept, &bytes));
  atomically([&] { REQUIRE_OK(quire_free(kept)); });
  REQUIRE_STATUS(quire_allocation_size(kept, &bytes), QUIRE_BAD_ADDRESS);
  // Once more, and what is no allocation.
  atomically([&] {
    REQUIRE_STATUS(quire_free(kept), QUIRE_BAD_ADDRESS);
    REQUIRE_STATUS(quire_free(&bytes), QUIRE_BAD_ADDRESS);
    REQUIRE_OK(quire_free(nullptr));
  });
  // Allocated and freed by one body, that happens or not.
  for (const bool happens : {true, false}) {
    try {
      atomically([&] {
        REQUIRE_OK(quire_malloc(100, &lost));
        REQUIRE_OK(quire_free(lost));
        REQUIRE_STATUS(quire_free(lost), QUIRE_BAD_ADDRESS);
        if (!happens) quire::abort_transaction(quire::errc::busy);
      });
    } catch (const quire::error&) {
    }
    REQUIRE_STATUS(quire_allocation_size(lost, &bytes), QUIRE_BAD_ADDRESS);
  }
  barrier();
}

/// Another consistency beside it, in one body: it is usable, and not undone.
void beside_others() {
  volatile word* const at = make_words("beside", 1);
  word* const plain = shared_object<word>("beside_plain", 64);
  barrier();
  word* const mine = plain + quire_node() % 64;
  for (word i = 0; i < 30; ++i) {
    atomically([&] {
      *at = *at + 1;
      *mine = *mine + 1;
    });
  }
  barrier();
  REQUIRE_EQUAL(*at, 30 * static_cast<word>(quire_nodes()));
  if (quire_nodes() <= 64) REQUIRE(*mine >= 30);
  barrier();
}

/// Transactions of many pages, against one another.
void large() {
  constexpr std::size_t pages = 200;
  volatile word* const at = make_words("large", pages);
  for (int i = 0; i < 5; ++i) {
    atomically([&] {
      const word was = own_unit(at, 0);
      for (std::size_t p = 0; p < pages; ++p) {
        REQUIRE_EQUAL(own_unit(at, p), was);
        own_unit(at, p) = was + 1;
      }
    });
  }
  barrier();
  atomically([&] {
    for (std::size_t p = 0; p < pages; ++p) REQUIRE_EQUAL(own_unit(at, p), 5 * quire_nodes());
  });
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE_OK(quire_start(nullptr));
  const std::vector<std::string_view> parts(argv + 1, argv + argc);
  const auto wanted = [&](std::string_view name) {
    return parts.empty() || std::ranges::find(parts, name) != parts.end();
  };
  if (wanted("increments")) increments();
  if (wanted("threads")) threads();
  if (wanted("told")) told();
  if (wanted("scattered")) scattered();
  if (wanted("bank")) bank();
  if (wanted("litmus")) lost_update(), read_skew(), write_skew(), forks();
  if (wanted("ends")) ends();
  if (wanted("retries")) retries();
  if (wanted("irrevocable")) irrevocable();
  if (wanted("flag")) loops_on_a_flag();
  if (wanted("files")) files();
  if (wanted("effects")) effects();
  if (wanted("attempts")) attempts();
  if (wanted("memory")) memory();
  if (wanted("beside")) beside_others();
  if (wanted("large")) large();
  REQUIRE_OK(quire_end());
  return 0;
}
