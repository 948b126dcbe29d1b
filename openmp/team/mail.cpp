// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/team/mail.hpp"

#include <quire/quire.h>
#include <sched.h>

#include <cstddef>
#include <mutex>

#include "openmp/start/fail.hpp"
#include "openmp/tasks/memory.hpp"
#include "openmp/team/team.hpp"

namespace quire::openmp {
namespace {

/// A ring for each sender.
constexpr std::size_t slots = 32, kind_bits = 4;

std::uint64_t* g_boxes = nullptr;  ///< of all nodes
std::size_t g_box_words = 0;       ///< of one, in whole pages
struct outgoing {
  std::mutex guard;
  std::uint64_t next = 0;
};
outgoing* g_to = nullptr;         ///< by node
std::uint64_t* g_from = nullptr;  ///< words taken so far, by node
int g_first = 0;                  ///< whom receive() looks at first

std::uint64_t* slot_of(int receiver, int sender, std::uint64_t number) noexcept {
  return g_boxes + static_cast<std::size_t>(receiver) * g_box_words + static_cast<std::size_t>(sender) * slots + number % slots;
}

}  // namespace

void open_mail() {
  const auto nodes = static_cast<std::size_t>(job().nodes);
  constexpr std::size_t page = 4096;
  g_box_words = (nodes * slots * sizeof(std::uint64_t) + page - 1) / page * page / sizeof(std::uint64_t);
  void* at = nullptr;
  if (job().node == 0) {
    if (const quire_status why = quire_aligned_alloc(page, nodes * g_box_words * sizeof(std::uint64_t), &at); why != QUIRE_OK) fail("no shared memory", why);
  }
  if (const quire_status why = quire_broadcast(&at, sizeof at, 0); why != QUIRE_OK) fail("nodes cannot begin", why);
  g_boxes = static_cast<std::uint64_t*>(at);
  for (std::size_t i = 0; i < g_box_words; ++i) g_boxes[static_cast<std::size_t>(job().node) * g_box_words + i] = 0;  // the pages come here
  g_to = static_cast<outgoing*>(take_private(nodes * sizeof(outgoing)));
  g_from = static_cast<std::uint64_t*>(take_private(nodes * sizeof(std::uint64_t)));
  for (std::size_t i = 0; i < nodes; ++i) {
    new (&g_to[i]) outgoing;
    g_from[i] = 0;
  }
  if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) fail("nodes cannot begin", why);
}

void send(int node, const letter& l) noexcept {
  outgoing& to = g_to[node];
  const std::lock_guard held(to.guard);
  std::uint64_t* const slot = slot_of(node, job().node, to.next++);
  const std::uint64_t word = l.value << kind_bits | static_cast<std::uint64_t>(l.what);
  for (int done = 0; done == 0;) {
    std::uint64_t expected = 0;
    if (const quire_status why = quire_compare_exchange(slot, &expected, word, &done); why != QUIRE_OK) fail("another node cannot be told", why);
    if (done == 0) ::sched_yield();
  }
}

bool receive(letter& l, int& from) noexcept {
  const int nodes = job().nodes;
  for (int i = 0; i < nodes; ++i) {
    const int sender = (g_first + i) % nodes;
    std::uint64_t* const slot = slot_of(job().node, sender, g_from[sender]);
    const std::uint64_t word = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (word == 0) continue;
    ++g_from[sender];
    __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
    g_first = sender;
    from = sender;
    l = {static_cast<letter::kind>(word & ((1u << kind_bits) - 1)), word >> kind_bits};
    return true;
  }
  return false;
}

}  // namespace quire::openmp
