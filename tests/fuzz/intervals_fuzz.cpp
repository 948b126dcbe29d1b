// SPDX-License-Identifier: BSD-3-Clause
// Records of intervals that `quire run --check` reads, of two nodes: a first byte tells how many bytes are node 0's.
#include <utility>

#include "input.hpp"
#include "races/checker.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace quire::races;
  quire::fuzz::input all(data, bytes);
  const std::size_t first = all.take<std::uint8_t>() * std::size_t{16};
  // A whole record begins each file; without one nothing else would be read.
  quire::base::fault_vector<std::byte> files[2];
  for (std::uint64_t node = 0; node < 2; ++node) {
    writer(files[node]).head({node, 2});
    const auto rest = node == 0 ? all.take(first) : all.rest();
    files[node].insert(files[node].end(), rest.begin(), rest.end());
  }
  checker c(2);
  bool fed[2] = {};
  for (std::uint64_t node = c.wants(); node < 2; node = c.wants()) {
    if (std::exchange(fed[node], true))
      c.end_of(node);
    else
      MUST(c.feed(node, files[node]));
  }
  const findings& f = c.found();
  MUST(f.races.size() <= checker::most_kinds && f.broken.size() <= checker::most_kinds && f.cut.size() <= 2);
  for (const race& r : f.races)
    MUST(r.first.node < r.second.node && r.bytes != 0 && r.last >= r.address && r.times != 0);
  checker raw(2);
  (void)raw.feed(0, {reinterpret_cast<const std::byte*>(data), bytes});
  return 0;
}
