// SPDX-License-Identifier: BSD-3-Clause
// A node for sharing_test: nodes count, each in turn, in words that lie as the argument says.
//   lines    64 bytes apart in one array
//   twice    the same, and then in a line 1 KiB further on, which makes no fault
//   words    one beside the other in one array
//   objects  in blocks of their own, allocated one after the other
//   same     all in the same word
//   mixed    each in its own line, and every other time all in one word
//   pages    on units of their own
//   reads    nobody writes, after node 0 has filled them
#include <string>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t rounds = 120, most_nodes = 16, page = 4096;
using counter = volatile std::uint64_t;

struct table {
  counter* at[most_nodes];
};

void* array(std::size_t bytes) {
  void* at = nullptr;
  REQUIRE_OK(quire_calloc(1, bytes, &at));
  return at;
}

/// Where the counter of each node lies. Node 0 tells where the first is.
void lay_out(const std::string& how, table& all, std::size_t nodes) {
  char* one = nullptr;
  if (how == "pages") {
    void* at = nullptr;
    REQUIRE_OK(quire_aligned_alloc(page, nodes * page, &at));
    one = static_cast<char*>(at);
  } else if (how != "objects") {
    one = static_cast<char*>(array(page));
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::size_t apart = how == "pages" ? page : how == "words" ? 8 : how == "same" ? 0 : 64;
    all.at[node] = static_cast<counter*>(how == "objects" ? array(48) : one + node * apart);
    *all.at[node] = 0;
  }
  std::printf("at %p\n", const_cast<std::uint64_t*>(all.at[0]));
}

}  // namespace

int main(int count, char** arguments) {
  REQUIRE(count == 2);
  const std::string how = arguments[1];
  REQUIRE_OK(quire_start(nullptr));
  const auto nodes = static_cast<std::size_t>(quire_nodes()), me = static_cast<std::size_t>(quire_node());
  REQUIRE(nodes <= most_nodes);
  table& all = *shared_object<table>("counters");
  if (me == 0) lay_out(how, all, nodes);
  barrier();
  std::uint64_t sum = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < nodes; ++turn) {
      if (turn == me) {
        if (how == "reads") {
          sum += *all.at[me];
        } else {
          counter* const mine = how == "mixed" && round % 2 != 0 ? all.at[0] + 511 : all.at[me];
          *mine = *mine + 1;
          if (how == "twice") mine[128] = mine[128] + 1;
        }
      }
      barrier();
    }
  }
  if (how == "mixed") REQUIRE_EQUAL(all.at[0][511], rounds / 2 * nodes);
  if (how == "lines" || how == "words" || how == "objects" || how == "pages") REQUIRE_EQUAL(*all.at[me], rounds);
  REQUIRE_EQUAL(sum, 0);
  REQUIRE_OK(quire_end());
  return 0;
}
