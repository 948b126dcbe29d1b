// SPDX-License-Identifier: BSD-3-Clause
// Those of the executable are left to us by __libc_start_main. Those of libraries the dynamic linker would run on each
// node, before the job begins, where they would leave private memory in static data. It finds them by the library's
// dynamic section. This library is the first to be initialised
// (-z initfirst), and gives it functions instead that do nothing but note the order.
#include "program/loader/loading/constructors.hpp"

#include <quire/quire.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "program/loader/loading/loading.hpp"
#include "program/loader/loading/plan.hpp"
#include "program/process/fail.hpp"
#include "program/process/modules.hpp"
#include "program/process/own_names.hpp"

namespace quire::program {
namespace {

using function = void (*)(int, char**, char**);

/// What a dynamic section has said before.
struct held_back {
  std::uint64_t init = 0, fini = 0;  ///< 0: none
  const function* first = nullptr;
  const function* last = nullptr;
  std::uint64_t first_count = 0, last_count = 0;
};
constexpr std::size_t most = 512;
std::array<held_back, most> g_held;
held_back g_executable;  ///< only what is last
std::array<std::uint16_t, most> g_order;
std::size_t g_calls = 0, g_noted = 0;
bool g_too_many_calls = false, g_cannot = false;

/// Of libraries that were loaded during the run.
struct {
  std::array<bool, most> used{};
  void (*tell_last)(std::size_t number) = nullptr;  ///< the dynamic linker takes one away
} g_late;

template <std::size_t number>
void note(int, char**, char**) {
  g_order[g_noted++] = number;
}
template <std::size_t... number>
constexpr std::array<function, most> all_notes(std::index_sequence<number...>) noexcept {
  return {&note<number>...};
}
constexpr std::array<function, most> notes = all_notes(std::make_index_sequence<most>());
void nothing() {}

using last_function = void (*)();
template <std::size_t number>
void tell_last() {
  if (g_late.used[number] && g_late.tell_last != nullptr) g_late.tell_last(number);
}
template <std::size_t... number>
constexpr std::array<last_function, most> all_lasts(std::index_sequence<number...>) noexcept {
  return {&tell_last<number>...};
}
constexpr std::array<last_function, most> lasts = all_lasts(std::make_index_sequence<most>());

/// Addresses of a dynamic section are counted from the module's base.
void point(const module& of, std::int64_t tag, const void* to) noexcept {
  if (auto* const entry = of.entry(tag); entry != nullptr)
    entry->d_un.d_ptr = reinterpret_cast<std::uint64_t>(to) - of.base;
}
void set(const module& of, std::int64_t tag, std::uint64_t to) noexcept {
  if (auto* const entry = of.entry(tag); entry != nullptr) entry->d_un.d_val = to;
}

bool let_write(const module& of) noexcept {
  constexpr std::uint64_t page = 4096;
  const ElfW(Dyn)* end = of.dynamic;
  while (end->d_tag != DT_NULL) ++end;
  const auto first = reinterpret_cast<std::uint64_t>(of.dynamic) / page * page,
             last = reinterpret_cast<std::uint64_t>(end + 1);
  return ::mprotect(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_WRITE) == 0;
}

held_back of_module(const module& of) noexcept {
  held_back h;
  const auto at = [&of](std::uint64_t offset) { return offset == 0 ? 0 : of.base + offset; };
  h.init = at(value(of, DT_INIT));
  h.fini = at(value(of, DT_FINI));
  h.first = reinterpret_cast<const function*>(at(value(of, DT_INIT_ARRAY)));
  h.last = reinterpret_cast<const function*>(at(value(of, DT_FINI_ARRAY)));
  h.first_count = value(of, DT_INIT_ARRAYSZ) / sizeof(function);
  h.last_count = value(of, DT_FINI_ARRAYSZ) / sizeof(function);
  return h;
}

void hold_back_last(const module& of) noexcept {
  point(of, DT_FINI, reinterpret_cast<const void*>(&nothing));
  set(of, DT_FINI_ARRAYSZ, 0);
}

void hold_back_first(const module& of, std::size_t number) noexcept {
  const held_back& h = g_held[number] = of_module(of);
  if (h.init != 0) {
    point(of, DT_INIT, reinterpret_cast<const void*>(notes[number]));
    set(of, DT_INIT_ARRAYSZ, 0);
  } else {
    point(of, DT_INIT_ARRAY, &notes[number]);
    set(of, DT_INIT_ARRAYSZ, sizeof(function));
  }
}

void hold_back(const module& of) noexcept {
  hold_back_first(of, g_calls++);
  hold_back_last(of);
}

/// Before all other constructors.
[[gnu::constructor(101)]] void hold_back_all(int, char**, char** environment) noexcept {
  leave_out_preloaded(environment);
  leave_out_program();
  for (const module& m : modules()) {
    if (!m.programs || m.dynamic == nullptr) continue;
    if (g_calls == most) {
      g_too_many_calls = true;
      return;
    }
    if (!let_write(m)) {
      g_cannot = true;
      return;
    }
    if (m.name[0] != 0) {
      hold_back(m);
    } else {
      g_executable = of_module(m);
      hold_back_last(m);
    }
  }
}

void run(const held_back& h, int count, char** arguments, char** environment) {
  if (h.init != 0) reinterpret_cast<function>(h.init)(count, arguments, environment);
  for (std::uint64_t i = 0; i < h.first_count; ++i) h.first[i](count, arguments, environment);
}

void run_last(const held_back& h) {
  for (std::uint64_t i = h.last_count; i-- > 0;) reinterpret_cast<last_function>(h.last[i])();
  if (h.fini != 0) reinterpret_cast<last_function>(h.fini)();
}

/// Those of `modules()`, and what Quire has loaded until the program begins.
struct {
  std::array<std::uint64_t, 4096> bases{};
  std::size_t count = 0;
} g_there;

/// Of libraries that nobody has kept back, and that may use shared memory: all that the program has loaded in a job of
/// one node, and those of the system that all nodes have loaded.
bool ends_with_job(const module& m) noexcept {
  if (quire_nodes() > 1) return !m.programs && is_placed(m.base);
  const auto end = g_there.bases.begin() + static_cast<std::ptrdiff_t>(g_there.count);
  return std::find(g_there.bases.begin(), end, m.base) == end;
}

/// What the program has loaded itself, and the dynamic linker would run after the end of the job.
class late_libraries {
 public:
  void find() noexcept {
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* all) {
          static_cast<late_libraries*>(all)->look_at(*info);
          return 0;
        },
        this);
    for (std::size_t i = 0; i < count_; ++i) put_in_order(i);
  }
  /// As the dynamic linker does it: a library ends before those that it needs.
  void run_last() {
    for (std::size_t i = in_order_; i-- > 0;) {
      const module& m = all_[order_[i]];
      const held_back h = of_module(m);
      hold_back_last(m);
      program::run_last(h);
    }
  }

 private:
  static constexpr std::size_t most_late = 2048;

  void look_at(const dl_phdr_info& info) noexcept {
    const module m = describe(info);
    if (count_ == most_late || m.dynamic == nullptr || !ends_with_job(m)) return;
    if (!has_last_call(m) || let_write(m)) {
      names_[count_] = load_plan::name_of(m.name);
      all_[count_++] = m;
    }
  }
  /// Behind what it needs.
  void put_in_order(std::size_t i) noexcept {
    if (seen_[i]) return;
    seen_[i] = true;
    const auto* const texts = all_[i].entry(DT_STRTAB);
    for (const ElfW(Dyn)* d = all_[i].dynamic; texts != nullptr && d->d_tag != DT_NULL; ++d) {
      if (d->d_tag != DT_NEEDED) continue;
      const auto name = load_plan::name_of(reinterpret_cast<const char*>(texts->d_un.d_ptr) + d->d_un.d_val);
      const auto end = names_.begin() + static_cast<std::ptrdiff_t>(count_);
      if (const auto at = std::find(names_.begin(), end, name); at != end)
        put_in_order(static_cast<std::size_t>(at - names_.begin()));
    }
    order_[in_order_++] = static_cast<std::uint16_t>(i);
  }

  std::array<module, most_late> all_{};
  std::array<std::uint64_t, most_late> names_{};
  std::array<bool, most_late> seen_{};
  std::array<std::uint16_t, most_late> order_{};
  std::size_t count_ = 0, in_order_ = 0;
};
constinit late_libraries g_late_libraries;

struct {
  int count = 0;
  char** arguments = nullptr;
  char** environment = nullptr;
} g_given;

}  // namespace

void note_arguments(int count, char** arguments, char** environment) noexcept {
  g_given = {count, arguments, environment};
}

void note_modules_before_program() noexcept {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        if (g_there.count < g_there.bases.size()) g_there.bases[g_there.count++] = info->dlpi_addr;
        return 0;
      },
      nullptr);
}

void when_taken_away(void (*tell)(std::size_t number)) noexcept { g_late.tell_last = tell; }

bool has_last_call(const module& of) noexcept {
  return of.entry(DT_FINI) != nullptr || of.entry(DT_FINI_ARRAY) != nullptr;
}

std::size_t hold_back_late(const module& of) noexcept {
  const held_back h = of_module(of);
  std::size_t number = g_calls;  // behind those of the start
  while (number < most && g_late.used[number]) ++number;
  if (number == most) fail("the program has loaded more libraries of its own than this version can start", QUIRE_LIMIT);
  if (!let_write(of)) fail("constructors of a library cannot be kept back (mprotect)", QUIRE_SYSTEM);
  g_late.used[number] = true;
  hold_back_first(of, number);
  if (h.fini != 0) {
    point(of, DT_FINI, reinterpret_cast<const void*>(lasts[number]));
    set(of, DT_FINI_ARRAYSZ, 0);
  } else {
    point(of, DT_FINI_ARRAY, &lasts[number]);
    set(of, DT_FINI_ARRAYSZ, sizeof(last_function));
  }
  return number;
}

std::span<const std::uint16_t> order_of_late(std::size_t from) noexcept { return {&g_order[from], g_noted - from}; }
std::size_t noted() noexcept { return g_noted; }
void forget_order(std::size_t from) noexcept { g_noted = from; }

void run_late_constructors(std::size_t number) {
  run(g_held[number], g_given.count, g_given.arguments, g_given.environment);
}
void run_late_destructors(std::size_t number) { run_last(g_held[number]); }
void forget_late(std::size_t number) noexcept { g_late.used[number] = false; }

void run_constructors(int count, char** arguments, char** environment, bool of_executable) {
  if (g_too_many_calls) fail("the program has more libraries of its own than this version can start", QUIRE_LIMIT);
  if (g_cannot) fail("constructors of the program's libraries cannot be kept back (mprotect)", QUIRE_SYSTEM);
  for (std::size_t i = 0; i < g_noted; ++i) run(g_held[g_order[i]], count, arguments, environment);
  if (of_executable) run(of_module(modules()[0]), count, arguments, environment);
}

void run_destructors() noexcept {
  g_late_libraries.find();
  g_late_libraries.run_last();
  end_loaded();
  run_last(g_executable);
  for (std::size_t i = g_noted; i-- > 0;) run_last(g_held[g_order[i]]);
}

}  // namespace quire::program
