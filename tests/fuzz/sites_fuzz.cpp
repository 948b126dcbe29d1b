// SPDX-License-Identifier: BSD-3-Clause
// Programs that `quire run --memory auto` and `quire info` look at.
#include <string>
#include <vector>

#include "input.hpp"
#include "program/sites/code.hpp"

using namespace quire;
using namespace quire::program::sites;

namespace {

void look_at(const site& s) {
  MUST(s.length >= 1 && s.length <= site::most_bytes);
  if (!s.movable) return;
  MUST(s.modrm_at < s.length);
  MUST(!s.has_displacement || s.displacement_at < s.length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static std::string why;
  static const decoder* const by = decoder::open(why);
  if (by == nullptr) return 0;
  const std::vector<std::byte> file(reinterpret_cast<const std::byte*>(data),
                                    reinterpret_cast<const std::byte*>(data) + bytes);
  const code c = read_code(*by, file);
  for (const site& s : c.found) look_at(s);
  (void)function_at(file, bytes);
  sections found;
  std::uint64_t bad = 0;
  if (!read_section(*by, file, 0x1000, found, bad)) MUST(bad >= 0x1000 && bad - 0x1000 < bytes);
  for (const site& s : found.found) look_at(s);
  return 0;
}
