// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/sites/verdict.hpp"

#include <algorithm>
#include <cstdio>

namespace quire::openmp::sites {
namespace {

bool is_update(const site& s) noexcept { return s.kind == site_kind::update && !s.harmless; }

const char* name_of(const site& s) noexcept {
  switch (s.kind) {
    case site_kind::fence: return s.length == 3 ? "fence (mfence)" : "fence (lock or)";
    case site_kind::spin: return "loop that waits (pause)";
    case site_kind::transaction: return "transaction (xbegin)";
    default: return "atomic operation";
  }
}

/// "6 fences", of the kind that `one` is of.
std::string counted(const code& c, const site& one) {
  const auto count = std::count_if(c.found.begin(), c.found.end(), [&](const site& s) { return s.kind == one.kind && (one.kind != site_kind::update || is_update(s)); });
  const char* const noun = one.kind == site_kind::fence ? "fence" : one.kind == site_kind::spin ? "loop" : one.kind == site_kind::transaction ? "transaction" : "atomic operation";
  const char* const more = one.kind == site_kind::spin ? " that waits (pause)" : "";
  const char* const plural = one.kind == site_kind::spin && count != 1 ? " that wait (pause)" : more;
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s") + plural;
}

std::string place(const file_code& f, const site& s) {
  char text[64];
  std::snprintf(text, sizeof text, " at 0x%lx", static_cast<unsigned long>(s.address));
  return text + (f.function.empty() ? std::string() : ", in " + f.function);
}

/// Empty if nothing speaks against mixed memory.
std::string against(const file_code& f, bool watches) {
  if (!f.what.trouble.empty()) return f.name + " " + f.what.trouble;
  if (const site* const s = first_against(f.what); s != nullptr) return f.name + " has " + counted(f.what, *s) + ", the first " + name_of(*s) + place(f, *s);
  if (!f.what.fencing.empty()) return f.name + " calls " + f.what.fencing.front();
  if (!f.what.updating.empty()) return f.name + " calls " + f.what.updating.front();
  if (watches) return {};
  const auto first = std::find_if(f.what.found.begin(), f.what.found.end(), is_update);
  if (first == f.what.found.end()) return {};
  return f.name + " has " + counted(f.what, *first) + ", the first" + place(f, *first);
}

}  // namespace

const site* first_against(const code& c) noexcept {
  const auto found = std::find_if(c.found.begin(), c.found.end(), [](const site& s) { return s.kind != site_kind::update; });
  return found == c.found.end() ? nullptr : &*found;
}

std::size_t updates_in(const code& c) noexcept { return static_cast<std::size_t>(std::count_if(c.found.begin(), c.found.end(), is_update)); }

verdict decide(std::span<const file_code> files, bool watches) {
  verdict v;
  for (const file_code& f : files) {
    v.why = against(f, watches);
    if (!v.why.empty()) return v;
    v.watched += updates_in(f.what);
  }
  v.mixed = true;
  v.why = v.watched == 0   ? "the program has no atomic operations, fences or flushes"
          : v.watched == 1 ? "its atomic operation is watched, and it has no fences or flushes"
                           : "its " + std::to_string(v.watched) + " atomic operations are watched, and it has no fences or flushes";
  return v;
}

}  // namespace quire::openmp::sites
