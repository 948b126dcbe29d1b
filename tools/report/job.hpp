// SPDX-License-Identifier: BSD-3-Clause
// What the records of a job's nodes say together: their times laid side by side, source lines for instructions, names
// for memory, false sharing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/file.hpp"
#include "sharing/verdict.hpp"

namespace quire::tools::report {

/// Of the accesses from one line of the program.
struct line_use {
  std::string line{};
  record::file_sums sums{};
};

/// A unit that nodes share falsely.
struct finding {
  sharing::unit_use unit;
  sharing::verdict verdict{};
  std::string name{};                          ///< what lies there
  std::string allocated{};                     ///< the line that allocated it; empty: not known
  bool stock = false;                          ///< of a program that can call nothing of Quire
  bool likely = false;                         ///< where each fault began is all that is known
  std::vector<std::vector<line_use>> lines{};  ///< by entry of unit.nodes
};

struct named_memory {
  std::uint64_t address = 0, bytes = 0;
  std::string name{};
};

struct job {
  std::vector<record::node_record> nodes{};  ///< by number; those that left none are missing
  std::vector<std::uint64_t> dead{};         ///< of these what they had recorded when they died
  std::uint64_t size = 0;                    ///< how many the job had
  std::vector<line_use> lines{};             ///< of all nodes, those that cost most first
  std::vector<finding> shared{};             ///< those that cost most first
  std::vector<named_memory> names{};         ///< by address
  bool stock = false;                        ///< it knows nothing of Quire, and can call nothing of it
  std::vector<std::string> rebuilt{};        ///< files that are no longer those that ran: they tell no lines or names
};

/// Reads what stands in a directory. False, and a sentence in `why`.
[[nodiscard]] bool read_records(const std::string& directory, job& all, std::string& why);
/// Finds lines, names and false sharing. Runs addr2line and nm (binutils) where they are installed.
void explain(job& all);

/// An instruction of a node, and its callers.
struct place {
  std::uint64_t node = 0;
  std::vector<std::uint64_t> from{};
};
/// For each of them "heat.cpp:57 in sweep()", or what else is known. Runs addr2line.
[[nodiscard]] std::vector<std::string> lines_at(const job& all, std::span<const place> places);

/// What to add to a time of a node's record for that of the job: then all nodes meet at the same time.
[[nodiscard]] std::uint64_t shift_of(const job& all, const record::node_record& node);
/// "grid[128-191]", or "heap+0x40", as far as memory has names.
[[nodiscard]] std::string place_name(const job& all, std::uint64_t address, std::uint64_t bytes);

/// The page: one file that needs no other.
[[nodiscard]] std::string page(const job& all);
/// Events for Perfetto and chrome://tracing.
[[nodiscard]] std::string perfetto(const job& all);

/// Reads the records of `directory` and writes what was asked for; an empty name is nothing. False, and a sentence in
/// `why`. What else is to be said is in `note`.
[[nodiscard]] bool make(const std::string& directory, const std::string& html, const std::string& events,
                        std::string& why, std::string& note);

}  // namespace quire::tools::report
