// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/private_notes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace quire::program {
namespace {

std::array<private_mapping, 256> g_notes;
std::atomic<std::size_t> g_note_count{0};
std::mutex g_note_guard;  ///< of new ones

std::atomic_ref<std::uint64_t> bytes_of(private_mapping& n) noexcept { return std::atomic_ref(n.bytes); }

/// The note for which `is` says so; null: there is none.
template <class Is>
private_mapping* find_note(const Is& is) noexcept {
  auto* const end = g_notes.data() + g_note_count.load(std::memory_order_acquire);
  auto* const found = std::find_if(g_notes.data(), end, is);
  return found != end ? found : nullptr;
}
private_mapping* note_of(std::uint64_t address) noexcept {
  return find_note([=](private_mapping& n) { return address - n.first < bytes_of(n).load(); });
}
/// One that a mapping of its node goes on from.
private_mapping* note_before(const private_mapping& m) noexcept {
  return find_note([&m](private_mapping& n) { return n.node == m.node && m.first - n.first <= bytes_of(n).load(); });
}

bool has_room(const private_mapping& n) noexcept {
  return g_note_count.load() < g_notes.size() || note_before(n) != nullptr;
}

}  // namespace

bool needs_no_note(const private_mapping& m) noexcept {
  const private_mapping* const known = note_of(m.first);
  return (known != nullptr && known->node == m.node && m.first + m.bytes <= known->first + known->bytes) ||
         !has_room(m);
}

void keep_note(const private_mapping& n) noexcept {
  const std::lock_guard held(g_note_guard);
  const std::size_t count = g_note_count.load();
  if (private_mapping* const before = note_before(n); before != nullptr) {
    bytes_of(*before).store(std::max(before->bytes, n.first + n.bytes - before->first));
  } else if (count < g_notes.size()) {
    g_notes[count] = n;
    g_note_count.store(count + 1, std::memory_order_release);
  }
}

int node_of_note(std::uint64_t address) noexcept {
  const private_mapping* const found = note_of(address);
  return found != nullptr ? found->node : -1;
}

}  // namespace quire::program
