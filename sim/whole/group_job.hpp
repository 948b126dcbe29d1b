// SPDX-License-Identifier: BSD-3-Clause
// A random program of groups on a whole job: threads of all nodes meet in several groups, each of which has words of
// its own in regions of both consistencies. Between two meetings of a group every word of it belongs to one member,
// another one each time, which finds what was written before, and writes. Reductions and broadcasts of all sizes are
// compared with what they must give.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/whole/world.hpp"
#include "sync/call.hpp"

namespace quire::whole {

struct group_options {
  std::uint64_t seed = 1;
  unsigned nodes = 2;
  unsigned most_threads = 3;  ///< of a node in a group
  unsigned most_groups = 3;
  unsigned most_rounds = 12;
};

class group_job {
 public:
  explicit group_job(const group_options& options);
  /// What is wrong, or an empty text.
  [[nodiscard]] std::string run();
  /// What has been done, by name: for tests that want to have seen it.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& done() const noexcept { return done_; }

 private:
  enum class meeting : std::uint8_t { wait, sum, broadcast, last = broadcast };
  struct round {
    meeting what{};
    std::size_t values = 0;  ///< of 8 bytes
    std::uint32_t root = 0;
  };
  struct team {
    std::vector<std::uint32_t> threads{};  ///< by node
    std::uint32_t members = 0;
    std::vector<round> rounds{};
    std::uint64_t id = 0;
  };
  struct member {
    node& here;
    team& of;
    unsigned group = 0;
    std::uint32_t place = 0, number = 0, thread = 0;
    sim::random draw;
  };

  [[nodiscard]] world_options draw_options(const group_options& given);
  void lead(node& here);
  void live(member m);
  void use_words(member& m, std::size_t round);
  void meet(member& m, std::size_t number);
  [[nodiscard]] std::uint64_t value_of(const member& m, std::size_t round, std::uint32_t number,
                                       std::size_t i) const noexcept;
  base::status call(node& here, sync::call& c, std::uint32_t thread, const char* what);

  group_options options_;
  sim::random draw_;
  world world_;
  std::vector<team> teams_{};
  std::uint64_t last_ = 0;
  std::map<std::string, std::uint64_t> done_{};
};

}  // namespace quire::whole
