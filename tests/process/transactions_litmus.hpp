// SPDX-License-Identifier: BSD-3-Clause
// Litmus tests of transactions, in contract_transactions_program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "node.hpp"
#include "transactional_words.hpp"

namespace quire::test {

/// Less of it where many nodes want the same, each in its turn.
int times_or_few(int times) { return quire_nodes() <= 16 ? times : times / 20; }

/// Others come in between. Touches no shared memory.
inline void pause_us(double us) {
  for (const double until = now_seconds() + us * 1e-6; now_seconds() < until;) continue;
}

/// Lost update: two read the same, and each adds to it.
inline void lost_update() {
  const word rounds = static_cast<word>(times_or_few(100)), writers = static_cast<word>(std::min(quire_nodes(), 2));
  volatile word* const at = make_words("lost", 1);
  for (word round = 1; round <= rounds; ++round) {
    if (quire_node() < 2) {
      atomically([&] {
        const word was = *at;
        pause_us(50);
        *at = was + 1;
      });
    }
    barrier();
    REQUIRE_EQUAL(quire::atomically([&] { return word{*at}; }), round * writers);
    barrier();
  }
}

/// Read skew: two words that are always written together are never seen to differ, not even by a body that is about to
/// be undone.
inline void read_skew() {
  constexpr int readers = 7;  // more of them take the time of the writer
  const word rounds = static_cast<word>(times_or_few(100));
  volatile word* const at = make_words("read_skew", 2);
  for (word seen = 0; seen != rounds && quire_node() <= readers;) {
    if (quire_node() == 0) {
      ++seen;
      atomically([&] {
        own_unit(at, 0) = seen;
        own_unit(at, 1) = seen;
      });
      pause_us(100);
    } else {
      seen = quire::atomically([&] {
        const word first = own_unit(at, 0);
        pause_us(50);
        const word second = own_unit(at, 1);
        if (first != second)
          fail(__FILE__, __LINE__, "a body sees %lu beside %lu", static_cast<unsigned long>(first),
               static_cast<unsigned long>(second));
        return first;
      });
    }
  }
  barrier();
}

/// Write skew: each of two may take one away if both together have two. Snapshot isolation would let both.
inline void write_skew() {
  volatile word* const at = make_words("skew", 3);
  const int rounds = times_or_few(60);
  for (int round = 0; round < rounds; ++round) {
    if (quire_node() == 0) {
      atomically([&] {
        own_unit(at, 0) = 1;
        own_unit(at, 1) = 1;
      });
    }
    barrier();
    if (quire_node() < 2) {
      atomically([&] {
        if (own_unit(at, 0) + own_unit(at, 1) == 2) own_unit(at, static_cast<std::size_t>(quire_node())) = 0;
      });
    }
    barrier();
    atomically([&] { REQUIRE(own_unit(at, 0) + own_unit(at, 1) >= 1); });
    barrier();
  }
}

/// Long fork: two words are written by one node each; readers agree on what came first.
inline void forks() {
  volatile word* const at = make_words("forks", 2);
  const word rounds = static_cast<word>(times_or_few(200));
  const int me = quire_node();
  std::vector<std::array<word, 2>> seen;
  for (word i = 1; i <= rounds; ++i) {
    if (me == 0) atomically([&] { own_unit(at, 0) = i; });
    if (me == 1 % quire_nodes()) atomically([&] { own_unit(at, 1) = i; });
    std::array<word, 2> now{};
    atomically([&] { now = {own_unit(at, 0), own_unit(at, 1)}; });
    if (!seen.empty()) REQUIRE(now[0] >= seen.back()[0] && now[1] >= seen.back()[1]);
    seen.push_back(now);
  }
  // What this node saw is a chain; of all nodes together, too: node 0 looks at them by shared memory.
  volatile word* const all = make_words("forks_seen", static_cast<std::size_t>(quire_nodes()) * 2);
  const std::size_t mine = static_cast<std::size_t>(me) * 2 * unit_at_least(4096) / sizeof(word);
  atomically([&] {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      all[mine + 2 * i] = seen[i][0];
      all[mine + 2 * i + 1] = seen[i][1];
    }
  });
  barrier();
  atomically([&] {
    for (int n = 0; n < quire_nodes(); ++n) {
      const std::size_t other = static_cast<std::size_t>(n) * 2 * unit_at_least(4096) / sizeof(word);
      for (std::size_t i = 0, j = 0; i < seen.size(); ++i) {
        while (j < rounds && all[other + 2 * j] < seen[i][0]) ++j;
        for (std::size_t k = 0; k < rounds; ++k) {
          const bool less = all[other + 2 * k] < seen[i][0] && all[other + 2 * k + 1] > seen[i][1];
          if (less) fail(__FILE__, __LINE__, "nodes %d and %d see the two writers in different orders", me, n);
        }
      }
    }
  });
  barrier();
}

}  // namespace quire::test
