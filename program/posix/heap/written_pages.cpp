// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/heap/written_pages.hpp"

#include <bit>
#include <iterator>

#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/on_all_nodes.hpp"

namespace quire::program {
namespace {

void add(quire_pages& all, const quire_pages& more) noexcept {
  all.next = std::min(all.next, more.next);
  for (std::size_t i = 0; i < std::size(all.bits); ++i) all.bits[i] |= more.bits[i];
}

quire_status ask(int node, const void* at, std::size_t bytes, quire_pages& found) noexcept {
  if (node == job().node) return quire_pages_written(at, bytes, &found);
  errand e(node);
  quire_pages* const room = e.room_for(&found, sizeof found);
  const quire_status why = e.run([=] { return quire_pages_written(at, bytes, room); });
  if (why == QUIRE_OK) e.bring(&found, room, sizeof found);
  return why;
}

/// Here: then the rest of what is told costs less than a question to others.
bool is_mostly_written(const quire_pages& found, std::size_t bytes) noexcept {
  const std::size_t told = std::min<std::size_t>(QUIRE_PAGES_TOLD, bytes / mapped_page);
  std::size_t written = 0;
  for (const std::uint64_t word : found.bits) written += static_cast<std::size_t>(std::popcount(word));
  return written >= told / 2;
}

}  // namespace

bool find_written(const void* at, std::size_t bytes, quire_pages& found) noexcept {
  const int nodes = files::apart && files::is_node() ? job().nodes : 1;
  if (ask(job().node, at, bytes, found) != QUIRE_OK) return false;
  if (is_mostly_written(found, bytes)) {
    std::fill(std::begin(found.bits), std::end(found.bits), ~std::uint64_t{0});
    return true;
  }
  for (int node = 0; node < nodes; ++node) {
    quire_pages theirs;
    if (node == job().node) continue;
    if (ask(node, at, bytes, theirs) != QUIRE_OK) return false;
    add(found, theirs);
  }
  return true;
}

}  // namespace quire::program
