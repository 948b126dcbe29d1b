// SPDX-License-Identifier: BSD-3-Clause
// The command line of the programs of this folder: numbers by name, "--seed 17", and --help.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace quire::test {

/// A number that may be given by its name; `value` holds its default.
struct argument {
  const char* name;
  std::uint64_t* value;
  std::uint64_t most;
  const char* what;
};

inline void print_help(const char* program, const char* about, std::initializer_list<argument> known) {
  std::printf("%s\n\nUsage: quire run -n NODES [OPTIONS OF QUIRE] %s [--NAME NUMBER]...\n\n", about, program);
  for (const argument& a : known)
    std::printf("  --%-14s %s (0 to %" PRIu64 "; default %" PRIu64 ")\n", a.name, a.what, a.most, *a.value);
}

/// Fills the values in. Ends the program with status 0 after --help, and with 2 and a message after what it does not
/// understand.
inline void read_arguments(int argc, char** argv, const char* about, std::initializer_list<argument> known) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") == 0) {
      print_help(argv[0], about, known);
      std::exit(0);
    }
    const argument* found = nullptr;
    for (const argument& a : known)
      if (std::strncmp(argv[i], "--", 2) == 0 && std::strcmp(argv[i] + 2, a.name) == 0) found = &a;
    const char* const text = i + 1 < argc ? argv[i + 1] : "";
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(text, &end, 10);
    if (found == nullptr || end == text || *end != 0 || value > found->most) {
      std::fprintf(stderr, "%s: '%s %s' is not understood; --help lists what is\n", argv[0], argv[i], text);
      std::exit(2);
    }
    *found->value = value;
    ++i;
  }
}

}  // namespace quire::test
