// SPDX-License-Identifier: BSD-3-Clause
// Which memory `--memory auto` takes for a program, by what stands in its code, and why, in a sentence for people.
//
//   nothing                 mixed: threads meet by OpenMP's constructs and locks only, or by plain variables, which
//                           nobody can see
//   updates                 mixed, if each of them can be made to look first where it goes (../watch), as a large
//                           object would lose them
//   a fence, a flush, a     sequential: the program has flags of its own, which are plain loads and stores, and may lie
//   loop that waits         in a large object
//   what cannot be read     sequential
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/sites/code.hpp"

namespace quire::program::sites {

/// Whether this version makes updates look.
inline constexpr bool can_watch = true;

/// What was found in one file.
struct file_code {
  std::string name;  ///< in sentences: "the program", "libx.so"
  code what;
  std::string function{};  ///< around the first place that speaks against mixed memory, if its symbols tell
};

struct verdict {
  bool mixed = false;
  std::string why{};        ///< after "mixed, as " or "sequential, as "
  std::size_t watched = 0;  ///< updates that have to be watched, if it is mixed
};

/// Of the program and all of its libraries that matter. `watches`: updates can be made to look.
[[nodiscard]] verdict decide(std::span<const file_code> files, bool watches);
/// The first place that speaks against it whatever can be watched; null if there is none.
[[nodiscard]] const site* first_against(const code& c) noexcept;
/// An update that has to be watched, as it is not harmless.
[[nodiscard]] bool is_watched(const site& s) noexcept;
/// Whether it may stand in a loop that waits for a plain variable, and can be watched: `pause` is too short to be told
/// from data among code.
[[nodiscard]] bool is_in_loops(const site& s) noexcept;
[[nodiscard]] std::size_t updates_in(const code& c) noexcept;

}  // namespace quire::program::sites
