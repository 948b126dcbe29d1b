// SPDX-License-Identifier: BSD-3-Clause
// From the highest address to the lowest: what follows an update has its final bytes then, and a jump whose last bytes
// are those of what follows can rely on them. All jumps are planned, and their stubs written, before any code changes.
#include "program/process/watch/patch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>

#include "program/process/watch/arena.hpp"
#include "program/process/watch/code_changes.hpp"
#include "program/process/watch/look.hpp"
#include "program/process/watch/spin.hpp"
#include "program/process/watch/stub.hpp"

namespace quire::program::watch {
namespace {

watch_table g_table;

class plan {
 public:
  explicit plan(arena& stubs) noexcept : stubs_(stubs) {}

  [[nodiscard]] bool add(const watched_code& m, const sites::site& s) {
    return put(m, s, [&](std::uint64_t at, std::uint64_t stub) { return encode_stub(s, at, stub, &g_table); });
  }
  /// What cannot be changed stays as it is.
  void add_spin(const watched_code& m, const sites::site& s, spun_function spun) {
    (void)put(m, s, [&](std::uint64_t at, std::uint64_t stub) {
      return encode_spin_stub(s, at, stub, place_of_count(), spun);
    });
  }
  /// All of a module, from the highest address to the lowest. Returns the first update that cannot be changed, if one
  /// cannot.
  [[nodiscard]] const sites::site* add_all(const watched_code& m, bool updates, spun_function spun) {
    auto u = updates ? m.updates.rbegin() : m.updates.rend();
    auto s = spun != nullptr ? m.spins.rbegin() : m.spins.rend();
    while (u != m.updates.rend() || s != m.spins.rend()) {
      if (u == m.updates.rend() || (s != m.spins.rend() && s->address > u->address)) {
        add_spin(m, *s++, spun);
      } else if (!add(m, *u)) {
        return &*u;
      } else {
        ++u;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool perform() { return changes_.perform(); }

 private:
  template <class Encode>
  [[nodiscard]] bool put(const watched_code& m, const sites::site& s, Encode encode) {
    const std::uint64_t at = m.base + s.address;
    if (!s.movable || at < m.code_first || at + s.length + most_following > m.code_end ||
        std::memcmp(reinterpret_cast<const void*>(at), s.bytes.data(), s.length) != 0)
      return false;
    std::array<std::uint8_t, most_following> following{};
    for (std::size_t i = 0; i < following.size(); ++i) following[i] = changes_.byte_at(at + s.length + i);
    for (const place& p : places_for(s, at, following)) {
      const std::uint64_t stub = stubs_.take(p.first, p.bytes, most_stub_bytes);
      if (stub == 0) continue;
      const std::optional<encoded> code = encode(at, stub);
      if (!code) continue;
      std::memcpy(reinterpret_cast<void*>(stub), code->bytes.data(), code->size);
      changes_.set(at, encode_jump(s, at, stub, p.prefixes));
      return true;
    }
    return false;
  }

  arena& stubs_;
  code_changes changes_{};
};

std::string place_of(const watched_code& m, const sites::site& s) {
  char text[100];
  std::snprintf(text, sizeof text, " has an atomic operation at 0x%lx that cannot be watched",
                static_cast<unsigned long>(s.address));
  return m.name + text;
}

}  // namespace

bool watch_updates(std::span<const watched_code> modules, std::string& why) {
  constexpr std::size_t most_updates = 20000;
  std::size_t count = 0;
  for (const watched_code& m : modules) count += m.updates.size();
  if (count == 0) return watch_spins(modules), true;
  if (count > most_updates) return why = "it has more atomic operations than can be watched", false;
  g_table.look = look_for_stubs();
  if (g_table.look == nullptr)
    return why = "its atomic operations cannot be watched on this processor (no xsave)", false;
  arena stubs;
  plan changes(stubs);
  const spun_function spun = spun_for_stubs();
  for (const watched_code& m : modules) {
    if (const sites::site* const s = changes.add_all(m, true, spun); s != nullptr) return why = place_of(m, *s), false;
  }
  if (stubs.keep() && changes.perform()) return true;
  return why = "its atomic operations cannot be watched: the system lets no code be changed", false;
}

void watch_spins(std::span<const watched_code> modules) {
  constexpr std::size_t most_spins = 20000;
  std::size_t count = 0;
  for (const watched_code& m : modules) count += m.spins.size();
  const spun_function spun = spun_for_stubs();
  if (count == 0 || count > most_spins || spun == nullptr || !may_change_code()) return;
  arena stubs;
  plan changes(stubs);
  for (const watched_code& m : modules) (void)changes.add_all(m, false, spun);
  if (stubs.keep()) (void)changes.perform();
}

void set_common_heap(std::uint64_t first, std::uint64_t bytes) noexcept {
  g_table.heap_first = first;
  g_table.heap_bytes = bytes;
}

}  // namespace quire::program::watch
