// SPDX-License-Identifier: BSD-3-Clause
#include "program/loader/loading/automatic.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "program/posix/heap/heap.hpp"
#include "program/process/fail.hpp"
#include "program/process/memory_mode.hpp"
#include "program/process/modules.hpp"
#include "program/process/symbols.hpp"
#include "program/process/watch/patch.hpp"
#include "program/sites/known_libraries.hpp"
#include "program/sites/look.hpp"

namespace quire::program {
namespace {

struct looked_at {
  std::vector<sites::file_code> files{};
  std::vector<watch::watched_code> modules{};
};

looked_at look(std::span<const module> all, const sites::decoder& by, sites::wanted what = sites::wanted::all) {
  looked_at found;
  for (const module& m : all) {
    if (m.known) continue;
    const bool executable = m.name[0] == 0;
    sites::file_code f = sites::look_at(by, executable ? own_file() : m.name,
                                        executable ? "the program" : sites::last_part(m.name), what);
    watch::watched_code w{f.name, m.base, m.code_first, m.code_end, {}, {}};
    std::copy_if(f.what.found.begin(), f.what.found.end(), std::back_inserter(w.updates), sites::is_watched);
    if (f.what.trouble.empty())  // else what looks like a fence may be none
      std::copy_if(f.what.found.begin(), f.what.found.end(), std::back_inserter(w.spins), sites::is_in_loops);
    found.files.push_back(std::move(f));
    found.modules.push_back(std::move(w));
  }
  return found;
}

bool loads_libraries(std::span<const module> all) noexcept {
  return std::any_of(all.begin(), all.end(), [](const module& m) {
    return m.programs && m.dynamic != nullptr && dynamic_symbols{m.dynamic, m.base}.any_needed([](const char* name) {
      return std::strcmp(name, "dlopen") == 0;
    });
  });
}

}  // namespace

memory_choice choose_by_code() {
  memory_choice c;
  std::string why;
  const auto all = modules();  // before the decoder's library is among them
  const sites::decoder* const by = sites::decoder::open(why);
  if (by == nullptr) {
    std::snprintf(c.why, sizeof c.why, "%s", why.c_str());
    return c;
  }
  const scratch_memory scratch;
  const looked_at found = look(all, *by);
  sites::verdict v = sites::decide(found.files, sites::can_watch);
  if (v.mixed && loads_libraries(all))
    v = {false, "it loads libraries during the run (dlopen), whose code is not known yet"};
  c.mixed = v.mixed && watch::watch_updates(found.modules, v.why);
  if (!c.mixed) watch::watch_spins(found.modules);
  std::snprintf(c.why, sizeof c.why, "%s", v.why.c_str());
  return c;
}

void watch_loops() {
  std::string why;
  const auto all = modules();
  const sites::decoder* const by = sites::decoder::open(why);
  if (by == nullptr) return;
  const scratch_memory scratch;
  watch::watch_spins(look(all, *by, sites::wanted::fences).modules);
}

bool watch_what_can_be() {
  std::string why;
  const auto all = modules();
  const sites::decoder* const by = sites::decoder::open(why);
  if (by == nullptr) return false;
  const scratch_memory scratch;
  std::string trouble;
  const looked_at found = look(all, *by);
  const bool known = std::all_of(found.files.begin(), found.files.end(),
                                 [](const sites::file_code& f) { return f.what.trouble.empty(); });
  if (watch::watch_updates(found.modules, trouble)) return known;
  watch::watch_spins(found.modules);
  return false;
}

bool watch_loaded(std::span<const module> loaded, std::string& why) {
  const sites::decoder* const by = sites::decoder::open(why);
  if (by == nullptr) return false;
  const looked_at found = look(loaded, *by);
  sites::verdict v = sites::decide(found.files, sites::can_watch);
  if (v.mixed && watch::watch_updates(found.modules, v.why)) return true;
  why = std::move(v.why);
  return false;
}

namespace {

/// Programs may synchronise by flags and atomic operations on the heap and on stacks.
void keep_heap_sequential() noexcept {
  const char* const asked = std::getenv("QUIRE_CONSISTENCY");
  if (asked == nullptr || std::strcmp(asked, "sequential") == 0) return;
  fail("QUIRE_CONSISTENCY is set, and the heap of programs with OpenMP has sequential consistency: unset it",
       QUIRE_BAD_OPTION);
}

}  // namespace

void choose_memory() noexcept {
  keep_heap_sequential();
  const char* const asked = std::getenv("QUIRE_EXEC_MEMORY");
  if (asked == nullptr || std::strcmp(asked, "sequential") == 0) return watch_loops();
  if (std::strcmp(asked, "auto") == 0) {
    const memory_choice found = choose_by_code();
    set_memory(found.mixed, found.mixed, found.why);
  } else if (std::strcmp(asked, "mixed") == 0) {
    set_memory(true, watch_what_can_be(), "");
  } else {
    fail("the program's memory is to be none of sequential, mixed and auto", QUIRE_BAD_OPTION);
  }
  if (is_mixed()) ::setenv("QUIRE_ORDERS", "2", 1);
}

}  // namespace quire::program
