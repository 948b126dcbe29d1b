// SPDX-License-Identifier: BSD-3-Clause
#include "program/sites/verdict.hpp"

#include <algorithm>
#include <cstdio>

namespace quire::program::sites {
namespace {

struct words {
  const char *one, *many, *how;  ///< "a fence", "fences", and the instruction
};

words words_for(const site& s) noexcept {
  switch (s.kind) {
    case site_kind::fence:
      return {"a fence", "fences", s.length == 3 ? "mfence" : "lock or"};
    case site_kind::spin:
      return {"a loop that waits", "loops that wait", "pause"};
    case site_kind::transaction:
      return {"a transaction", "transactions", "xbegin"};
    default:
      return {"an atomic operation", "atomic operations", "lock or xchg"};
  }
}

/// "a fence (mfence) at 0x1234, in work", "2 fences, the first (mfence) at 0x1234, in work".
std::string told(const file_code& f, const site& first) {
  const auto is_such = [&first](const site& s) {
    return s.kind == first.kind && (s.kind != site_kind::update || is_watched(s));
  };
  const auto count = std::count_if(f.what.found.begin(), f.what.found.end(), is_such);
  const words w = words_for(first);
  char place[100];
  std::snprintf(place, sizeof place, " (%s) at 0x%lx", w.how, static_cast<unsigned long>(first.address));
  return (count == 1 ? std::string(w.one) : std::to_string(count) + " " + w.many + ", the first") + place +
         (f.function.empty() ? "" : ", in " + f.function);
}

/// Empty if nothing speaks against mixed memory.
std::string against(const file_code& f, bool watches) {
  if (!f.what.trouble.empty()) return f.name + " " + f.what.trouble;
  if (const site* const s = first_against(f.what); s != nullptr) return f.name + " has " + told(f, *s);
  if (!f.what.fencing.empty()) return f.name + " calls " + f.what.fencing.front();
  if (!f.what.updating.empty()) return f.name + " calls " + f.what.updating.front();
  if (watches) return {};
  const auto first = std::find_if(f.what.found.begin(), f.what.found.end(), is_watched);
  return first == f.what.found.end() ? std::string() : f.name + " has " + told(f, *first);
}

}  // namespace

bool is_watched(const site& s) noexcept { return s.kind == site_kind::update && !s.harmless; }

bool is_in_loops(const site& s) noexcept { return s.kind == site_kind::fence; }

const site* first_against(const code& c) noexcept {
  const auto found =
      std::find_if(c.found.begin(), c.found.end(), [](const site& s) { return s.kind != site_kind::update; });
  return found == c.found.end() ? nullptr : &*found;
}

std::size_t updates_in(const code& c) noexcept {
  return static_cast<std::size_t>(std::count_if(c.found.begin(), c.found.end(), is_watched));
}

verdict decide(std::span<const file_code> files, bool watches) {
  verdict v;
  for (const file_code& f : files) {
    v.why = against(f, watches);
    if (!v.why.empty()) return v;
    v.watched += updates_in(f.what);
  }
  v.mixed = true;
  v.why = v.watched == 0 ? "the program has no atomic operations, fences or flushes"
          : v.watched == 1
              ? "its atomic operation is watched, and it has no fences or flushes"
              : "its " + std::to_string(v.watched) + " atomic operations are watched, and it has no fences or flushes";
  return v;
}

}  // namespace quire::program::sites
