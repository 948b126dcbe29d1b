// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/mail.hpp"

#include <quire/quire.h>

#include <cstddef>
#include <mutex>

#include "program/omp/team/shared_word.hpp"
#include "program/omp/team/steps/ring.hpp"
#include "program/omp/team/team.hpp"
#include "program/process/fail.hpp"
#include "program/process/private_memory.hpp"

namespace quire::program {
namespace {

/// A ring for each sender.
constexpr std::size_t slots = 32;

std::uint64_t* g_boxes = nullptr;  ///< of all nodes
std::size_t g_box_words = 0;       ///< of one, in whole pages
struct outgoing {
  std::mutex guard;
  steps::ring_sender ring;
};
outgoing* g_to = nullptr;                ///< by node
steps::ring_receiver* g_from = nullptr;  ///< by node
int g_first = 0;                         ///< whom receive() looks at first

shared_word slot_of(int receiver, int sender, std::uint64_t number) noexcept {
  std::uint64_t* const box = g_boxes + static_cast<std::size_t>(receiver) * g_box_words;
  return {box + static_cast<std::size_t>(sender) * slots + number % slots, "another node cannot be told"};
}

}  // namespace

void open_mail() {
  const auto nodes = static_cast<std::size_t>(job().nodes);
  constexpr std::size_t page = 4096;
  g_box_words = (nodes * slots * sizeof(std::uint64_t) + page - 1) / page * page / sizeof(std::uint64_t);
  void* at = nullptr;
  if (job().node == 0) {
    if (const quire_status why = quire_aligned_alloc(page, nodes * g_box_words * sizeof(std::uint64_t), &at);
        why != QUIRE_OK)
      fail("no shared memory", why);
  }
  if (const quire_status why = quire_broadcast(&at, sizeof at, 0); why != QUIRE_OK) fail("nodes cannot begin", why);
  g_boxes = static_cast<std::uint64_t*>(at);
  for (std::size_t i = 0; i < g_box_words; ++i)
    g_boxes[static_cast<std::size_t>(job().node) * g_box_words + i] = 0;  // the pages come here
  g_to = static_cast<outgoing*>(take_private(nodes * sizeof(outgoing)));
  g_from = static_cast<steps::ring_receiver*>(take_private(nodes * sizeof(steps::ring_receiver)));
  for (std::size_t i = 0; i < nodes; ++i) {
    new (&g_to[i]) outgoing;
    new (&g_from[i]) steps::ring_receiver;
  }
  if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) fail("nodes cannot begin", why);
}

bool try_send(int node, const letter& l) noexcept {
  outgoing& to = g_to[node];
  const std::lock_guard held(to.guard);
  return to.ring.try_put([&](std::uint64_t number) { return slot_of(node, job().node, number); }, word_of(l));
}

bool receive(letter& l, int& from) noexcept {
  const int nodes = job().nodes;
  for (int i = 0; i < nodes; ++i) {
    const int sender = (g_first + i) % nodes;
    const std::uint64_t word =
        g_from[sender].take([&](std::uint64_t number) { return slot_of(job().node, sender, number); });
    if (word == 0) continue;
    g_first = from = sender;
    l = letter_of(word);
    return true;
  }
  return false;
}

}  // namespace quire::program
