// SPDX-License-Identifier: BSD-3-Clause
// What threads of this node wait for, to be told to people (waiting.cpp). A thread notes what it is about to ask for in
// its own storage, which costs a few stores; only one that goes to sleep shows that to others, in a slot. Nothing here
// waits, locks or allocates: faults come this way. Slots are read by the service thread at any time, also when the
// driver does not drive.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "waits/record.hpp"

namespace quire::core {

inline constexpr const char* some_call = "a call of Quire";

/// What a thread wants of the engine.
struct wait_note {
  waits::what kind = waits::what::something;
  std::uint16_t node = waits::no_node;
  std::uint32_t thread = waits::no_thread;
  const char* name = some_call;
  std::uint64_t object = 0;  ///< handle or address
  std::uint64_t other = 0;   ///< condition: the mutex. memory: region << 48 | unit
  std::uint64_t since_ns = 0;
  std::uint32_t tid = 0;
};

/// A note is good for one call: what the thread does next may note nothing.
class note_scope {
 public:
  note_scope(wait_note& n, waits::what kind, const char* name) noexcept : note_(n) {
    n.kind = kind;
    n.name = name;
    n.node = waits::no_node;
  }
  ~note_scope() {
    note_.kind = waits::what::something;
    note_.name = some_call;
  }
  note_scope(const note_scope&) = delete;
  note_scope& operator=(const note_scope&) = delete;

 private:
  wait_note& note_;
};

/// Shown notes. A slot belongs to one sleeping thread; `turn` is odd while it changes.
class wait_board {
 public:
  static constexpr std::size_t slots = 256;
  static constexpr std::size_t none = slots;

  /// Shows a copy of `note`; `none` if there is no room.
  [[nodiscard]] std::size_t show(const wait_note& note) noexcept {
    const std::size_t start = note.tid % slots;
    for (std::size_t i = 0; i < slots; ++i) {
      slot& s = slots_[(start + i) % slots];
      if (s.taken.load(std::memory_order_relaxed) || s.taken.exchange(true, std::memory_order_acquire)) continue;
      put(s, note);
      return (start + i) % slots;
    }
    return none;
  }
  void take_away(std::size_t at) noexcept {
    if (at == none) return;
    slot& s = slots_[at];
    s.words[word_name].store(0, std::memory_order_relaxed);
    s.taken.store(false, std::memory_order_release);
  }
  /// f(note) for each that is shown, as it was at one moment.
  template <class F>
  void for_each(F f) const {
    for (const slot& s : slots_) {
      wait_note note;
      if (s.taken.load(std::memory_order_acquire) && get(s, note)) f(note);
    }
  }

 private:
  enum : std::size_t { word_about, word_name, word_object, word_other, word_since, word_tid, word_count };
  struct alignas(64) slot {
    std::atomic<bool> taken{false};
    std::atomic<std::uint32_t> turn{0};
    std::array<std::atomic<std::uint64_t>, word_count> words{};
  };
  static void put(slot& s, const wait_note& n) noexcept {
    s.turn.fetch_add(1, std::memory_order_acq_rel);
    const std::uint64_t about =
        std::uint64_t{static_cast<std::uint8_t>(n.kind)} << 48 | std::uint64_t{n.node} << 32 | n.thread;
    const std::uint64_t words[word_count] = {
        about, reinterpret_cast<std::uint64_t>(n.name), n.object, n.other, n.since_ns, n.tid};
    for (std::size_t i = 0; i < word_count; ++i) s.words[i].store(words[i], std::memory_order_relaxed);
    s.turn.fetch_add(1, std::memory_order_release);
  }
  static bool get(const slot& s, wait_note& n) noexcept {
    std::array<std::uint64_t, word_count> words;
    const std::uint32_t before = s.turn.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < word_count; ++i) words[i] = s.words[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 != 0 || s.turn.load(std::memory_order_relaxed) != before || words[word_name] == 0) return false;
    n = {static_cast<waits::what>(words[word_about] >> 48),
         static_cast<std::uint16_t>(words[word_about] >> 32),
         static_cast<std::uint32_t>(words[word_about]),
         reinterpret_cast<const char*>(words[word_name]),
         words[word_object],
         words[word_other],
         words[word_since],
         static_cast<std::uint32_t>(words[word_tid])};
    return true;
  }
  std::array<slot, slots> slots_{};
};

}  // namespace quire::core
