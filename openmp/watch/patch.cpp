// SPDX-License-Identifier: BSD-3-Clause
// From the highest address to the lowest: what follows an update has its final bytes then, and a jump whose last bytes
// are those of what follows can rely on them. All jumps are planned, and their stubs written, before any code changes.
#include "openmp/watch/patch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>

#include "openmp/start/fail.hpp"
#include "openmp/watch/arena.hpp"
#include "openmp/watch/look.hpp"
#include "openmp/watch/spin.hpp"
#include "openmp/watch/stub.hpp"

namespace quire::openmp::watch {
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

  /// False: the system allows no code to be changed. What has changed is as it was again.
  [[nodiscard]] bool perform() {
    const auto done = write(bytes_.end());
    if (done == bytes_.end()) return true;
    for (auto b = bytes_.begin(); b != done; ++b) b->second = b->second.other();
    if (write(done) != done)
      fail("the system does not let the program's code run again that was changed: ask for --memory sequential",
           QUIRE_SYSTEM);
    return false;
  }

 private:
  static constexpr std::uint64_t page = 4096;
  struct change {
    std::uint8_t after = 0, before = 0;
    [[nodiscard]] change other() const noexcept { return {before, after}; }
  };
  using changes = std::map<std::uint64_t, change>;

  template <class Encode>
  [[nodiscard]] bool put(const watched_code& m, const sites::site& s, Encode encode) {
    const std::uint64_t at = m.base + s.address;
    if (!s.movable || at < m.code_first || at + s.length + most_following > m.code_end ||
        std::memcmp(reinterpret_cast<const void*>(at), s.bytes.data(), s.length) != 0)
      return false;
    std::array<std::uint8_t, most_following> following{};
    for (std::size_t i = 0; i < following.size(); ++i) following[i] = byte_at(at + s.length + i);
    for (const place& p : places_for(s, at, following)) {
      const std::uint64_t stub = stubs_.take(p.first, p.bytes, most_stub_bytes);
      if (stub == 0) continue;
      const std::optional<encoded> code = encode(at, stub);
      if (!code) continue;
      std::memcpy(reinterpret_cast<void*>(stub), code->bytes.data(), code->size);
      set(at, encode_jump(s, at, stub, p.prefixes));
      return true;
    }
    return false;
  }
  [[nodiscard]] std::uint8_t byte_at(std::uint64_t at) const {
    const auto planned = bytes_.find(at);
    return planned != bytes_.end() ? planned->second.after : *reinterpret_cast<const std::uint8_t*>(at);
  }
  void set(std::uint64_t at, const std::vector<std::uint8_t>& bytes) {
    for (const std::uint8_t b : bytes) {
      bytes_[at] = {b, *reinterpret_cast<const std::uint8_t*>(at)};
      ++at;
    }
  }
  /// Page by page, those before `end`. Returns the first change that was not made; that before it may be in a page that
  /// cannot be run.
  changes::iterator write(changes::iterator end) {
    for (auto b = bytes_.begin(); b != end;) {
      const std::uint64_t first = b->first / page * page;
      void* const here = reinterpret_cast<void*>(first);
      if (::mprotect(here, page, PROT_READ | PROT_WRITE) != 0) return b;
      for (; b != end && b->first - first < page; ++b) *reinterpret_cast<std::uint8_t*>(b->first) = b->second.after;
      if (::mprotect(here, page, PROT_READ | PROT_EXEC) != 0) return b;
    }
    return end;
  }

  arena& stubs_;
  changes bytes_{};
};

/// Some systems let no code run that was changed (SELinux): tried on a page that is nobody's.
bool may_change_code() noexcept {
  constexpr std::size_t page = 4096;
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  void* const at = ::mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  ::close(file);
  if (at == MAP_FAILED) return false;
  bool may = ::mprotect(at, page, PROT_READ | PROT_WRITE) == 0;
  if (may) *static_cast<volatile char*>(at) = 0;
  may = may && ::mprotect(at, page, PROT_READ | PROT_EXEC) == 0;
  ::munmap(at, page);
  return may;
}

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

}  // namespace quire::openmp::watch
