// SPDX-License-Identifier: BSD-3-Clause
#include "program/loader/loading/on_node.hpp"

#include <dlfcn.h>
#include <link.h>
#include <quire/system.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "program/loader/loading/automatic.hpp"
#include "program/loader/loading/constructors.hpp"
#include "program/loader/loading/handles.hpp"
#include "program/loader/loading/linker_calls.hpp"
#include "program/loader/loading/loading.hpp"
#include "program/process/fail.hpp"
#include "program/process/image/image.hpp"
#include "program/process/interpose.hpp"
#include "program/process/linkers_memory.hpp"
#include "program/process/memory_mode.hpp"
#include "program/process/watch/calls.hpp"
#include "program/sites/arguments.hpp"
#include "program/sites/changed_code.hpp"
#include "program/sites/known_libraries.hpp"

namespace quire::program {

namespace {

constexpr std::size_t none = ~std::size_t{0};
loaded_list g_open;

/// The call of dlopen(3) that is under way on this node.
struct {
  std::array<std::uint64_t, 4096> before;  ///< where modules lie that were there before
  std::size_t before_count = 0;
  std::array<loaded_module, load_order::most_modules> found;  ///< since; number `none`: not the program's own
  std::size_t count = 0;
  bool leads = false;
  bool alone = false;  ///< no other node loads it
  load_plan plan{};
  bool taken[load_plan::most]{};
  std::uint64_t next = 0;
  std::uint64_t number = 0;
} g_call;
thread_local bool t_loads = false;
thread_local void (*t_ends)(loaded_module&) = nullptr;

int note_base(dl_phdr_info* info, std::size_t, void*) {
  if (g_call.before_count == g_call.before.size()) fail("the program has loaded too many libraries", QUIRE_LIMIT);
  g_call.before[g_call.before_count++] = info->dlpi_addr;
  return 0;
}

std::span<loaded_module> found() noexcept { return {g_call.found.data(), g_call.count}; }

bool is_known(std::uint64_t base) noexcept {
  const std::span<const std::uint64_t> before(g_call.before.data(), g_call.before_count);
  return std::find(before.begin(), before.end(), base) != before.end() ||
         std::any_of(found().begin(), found().end(), [base](const loaded_module& l) { return l.about.base == base; });
}

/// Of a library that is new: constructors of the program's own are kept back.
int note_mapped(dl_phdr_info* info, std::size_t, void*) {
  if (is_known(info->dlpi_addr)) return 0;
  if (g_call.count == g_call.found.size()) fail("one call of dlopen() loads too many libraries", QUIRE_LIMIT);
  loaded_module& l = g_call.found[g_call.count++];
  l = {describe(*info), none, g_call.number, false};
  if (l.about.programs && l.about.dynamic != nullptr) l.number = hold_back_late(l.about);
  return 0;
}

std::uint64_t place_file(std::uint64_t name, std::uint64_t bytes) {
  if (g_call.alone) return 0;
  if (g_call.leads) return g_call.next < end_of_libraries ? g_call.plan.place(name, bytes, g_call.next) : 0;
  return g_call.plan.find(name, g_call.taken);
}

template <class... Value>
void explain(load_order& o, const char* form, Value... values) noexcept {
  (void)::snprintf(o.error, sizeof o.error, form, values...);
}

void look_at_mapped() noexcept {
  if (t_loads) ::dl_iterate_phdr(note_mapped, nullptr);
}

/// Libc's dlopen(3).
void* load(load_order& o) noexcept {
  g_call.before_count = g_call.count = 0;
  ++g_call.number;
  ::dl_iterate_phdr(note_base, nullptr);
  const linker_calls calls(place_file);
  if (!calls.works() && !g_call.alone) {
    explain(o,
            "%.200s cannot be loaded at the same place on all nodes: that needs syscall user dispatch (Linux 5.11), or "
            "a program that is linked with it",
            o.file);
    o.may_stay = true;
    return nullptr;
  }
  t_loads = true;
  g_on_linkers_memory.store(look_at_mapped);
  void* const own = QUIRE_NEXT(dlopen)(o.file, o.mode);
  g_on_linkers_memory.store(nullptr);
  t_loads = false;
  if (own != nullptr) return own;
  explain(o, "%s", QUIRE_NEXT(dlerror)());
  for (const loaded_module& l : found()) {
    if (l.number != none) forget_late(l.number);
  }
  return nullptr;
}

/// Calls lead to their places at once, and updates look where they go (watch/). Nobody runs this code yet.
bool prepare_code(load_order& o) noexcept {
  static std::array<module, load_order::most_modules> all;
  std::size_t count = 0;
  for (const loaded_module& l : found()) {
    if (!l.about.known) all[count++] = l.about;
  }
  const std::span<const module> news(all.data(), count);
  quire_note_libraries();
  if (count == 0) return true;
  for (const module& m : news) sites::forget_code(m.code_first, m.code_end);  // of what may have been there before
  watch::keep_calls_private(news);
  std::string why;
  if (!is_mixed() || !is_watched() || watch_loaded(news, why)) return true;
  explain(o, "%s, and memory is mixed: ask for --memory sequential", why.c_str());
  o.may_stay = true;
  return false;
}

bool has_code_on_stacks(load_order& o) noexcept {
  for (const loaded_module& l : found()) {
    if (!l.about.runs_stack || l.about.known) continue;
    explain(o, "%s has code on stacks, which must be known when the program starts: link the program with it",
            l.about.name);
    return true;
  }
  return false;
}

/// From `mark` on the dynamic linker has noted constructors.
void keep_in_order(std::size_t mark) noexcept {
  const auto order = order_of_late(mark);
  const auto place = [&](const loaded_module& l) {
    return std::find(order.begin(), order.end(), l.number) - order.begin();
  };
  const auto end =
      std::stable_partition(found().begin(), found().end(), [](const loaded_module& l) { return l.number != none; });
  std::stable_sort(found().begin(), end,
                   [&](const loaded_module& a, const loaded_module& b) { return place(a) < place(b); });
  forget_order(mark);
  for (auto l = found().begin(); l != end; ++l) {
    if (g_open.count == loaded_list::most) fail("the program has loaded too many libraries of its own", QUIRE_LIMIT);
    if (!g_call.alone) note_static_data_of(l->about);
    l->runs = !g_call.leads;
    g_open.all[g_open.count++] = *l;
    if (!has_last_call(l->about)) (void)QUIRE_NEXT(dlopen)(l->about.name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

loaded_module* find(std::size_t number) noexcept {
  loaded_module* const end = g_open.all + g_open.count;
  loaded_module* const at =
      std::find_if(g_open.all, end, [number](const loaded_module& one) { return one.number == number; });
  return at != end ? at : nullptr;
}

/// The dynamic linker takes a library away. Its destructors may take others away, too.
void on_end(std::size_t number) {
  if (loaded_module* const ending = find(number); ending != nullptr && t_ends != nullptr) t_ends(*ending);
  loaded_module* const gone = find(number);
  if (gone == nullptr) return;
  forget_static_data_of(gone->about);
  sites::forget_code(gone->about.code_first, gone->about.code_end);
  forget_late(number);
  std::copy(gone + 1, g_open.all + g_open.count, gone);
  --g_open.count;
}

}  // namespace

loaded_list& loaded_here() noexcept { return g_open; }
std::uint64_t loads_here() noexcept { return g_call.number; }

void* load_first(load_order& o) noexcept {
  when_taken_away(on_end);
  const std::size_t mark = noted();
  g_call.leads = true;
  g_call.plan = {};
  g_call.next = o.next;
  void* own = load(o);
  if (own == nullptr) return nullptr;
  o.node = quire_node();
  o.plan = g_call.plan;
  o.next = g_call.next;
  o.module_count = 0;
  for (const loaded_module& l : found()) {
    auto& told = o.modules[o.module_count++];
    told = {l.about.base, l.about.sum, {}, {}};
    ::strncpy(told.file, sites::last_part(l.about.name), sizeof told.file - 1);
    ::memcpy(told.build, l.about.build, sizeof told.build);
  }
  const bool fits = !has_code_on_stacks(o) && prepare_code(o);
  keep_in_order(mark);
  if (!fits) (void)close_here(std::exchange(own, nullptr));
  return own;
}

void* load_alone(load_order& o) noexcept {
  when_taken_away(on_end);
  const std::size_t mark = noted();
  g_call.leads = g_call.alone = true;
  void* const own = load(o);
  if (own != nullptr) {
    quire_note_libraries();
    keep_in_order(mark);
  }
  g_call.alone = false;
  return own;
}

bool load_as(load_order& o) noexcept {
  when_taken_away(on_end);
  const std::size_t mark = noted();
  g_call.leads = false;
  g_call.plan = o.plan;
  std::fill(std::begin(g_call.taken), std::end(g_call.taken), false);
  void* const own = load(o);
  if (own == nullptr) return false;
  bool fits = true;
  for (std::size_t i = 0; i < o.module_count && fits; ++i) {
    const auto& told = o.modules[i];
    const auto same = std::find_if(found().begin(), found().end(), [&](const loaded_module& l) {
      return ::strncmp(sites::last_part(l.about.name), told.file, sizeof told.file - 1) == 0;
    });
    if (same == found().end()) continue;  // it was loaded before
    fits = same->about.base == told.base && same->about.sum == told.sum;
    if (!fits && same->about.base != told.base) {
      explain(o, "%s lies elsewhere than on node %d, which has loaded it", told.file, o.node);
    } else if (!fits) {
      explain(o, "%s is another build (%s) than on node %d (%s), which has loaded it", told.file,
              build_of(same->about.build), o.node, build_of(told.build));
    }
  }
  fits = fits && prepare_code(o);
  keep_in_order(mark);
  if (fits) set_own_handle(o.slot, own);
  if (!fits) (void)close_here(own);
  return fits;
}

int close_here(void* own) noexcept {
  const int result = QUIRE_NEXT(dlclose)(own);
  forget_arguments();
  return result;
}

int close_first(void* own, void (*ends)(loaded_module& m)) noexcept {
  void (*const before)(loaded_module&) = std::exchange(t_ends, ends);
  const int result = QUIRE_NEXT(dlclose)(own);
  t_ends = before;
  forget_arguments();
  return result;
}

}  // namespace quire::program
