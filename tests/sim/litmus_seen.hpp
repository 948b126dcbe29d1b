// SPDX-License-Identifier: BSD-3-Clause
// What an explorer has seen of the generated litmus tests (tests/litmus): judged, and printed as a line that
// tests/litmus/table.py makes docs/litmus.md of.
#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "../litmus/generated.hpp"

namespace quire::test::litmus {

/// How the accesses of a test are made: in a region with which consistency, and what is around them.
struct column {
  const char* name;
  bool generated::*may_be;  ///< whether the model allows the test's cycle
  model limit;              ///< allows all that may be seen, as far as models.hpp tells that
};
inline constexpr column tso{"tso", &generated::tso, model::tso};
inline constexpr column sequential{"sequential", &generated::sequential, model::sequential};
inline constexpr column release{"release", &generated::release, model::coherent};
inline constexpr column mixed{"mixed", &generated::mixed, model::coherent};
inline constexpr column locked{"locked", &generated::locked, model::serial};
inline constexpr column barriers{"barriers", &generated::barriers, model::sequential};
inline constexpr column owners{"owners", &generated::transactional, model::serial};
inline constexpr column token{"token", &generated::transactional, model::serial};

/// `explorer`: "bare" or "whole". `complete`: all orders have been tried.
inline void judge(const column& how, const char* explorer, const generated& one, const std::set<outcome>& seen,
                  bool complete) {
  std::string line = std::string("litmus ") + how.name + " " + explorer + (complete ? " all " : " some ");
  line += std::string(one.test.name) + " nodes " + std::to_string(one.test.threads.size());
  const auto may_be = allowed(one.test, how.limit);
  for (const outcome& o : seen) {
    line += " " + digits(one.test, o);
    EXPECT_TRUE(may_be.contains(o)) << one.test.name << ", " << how.name << ": " << text_of(one.test, o);
  }
  std::cout << line << "\n";
  EXPECT_FALSE(seen.empty()) << one.test.name;
  if (!(one.*how.may_be)) {
    EXPECT_FALSE(seen.contains(one.cycle))
        << one.test.name << ", " << how.name << " shows what its model forbids: " << text_of(one.test, one.cycle);
  }
}

/// Of the generated tests those with so many threads.
inline std::vector<const generated*> with_threads(std::size_t count) {
  std::vector<const generated*> some;
  for (const generated& one : all_generated)
    if (one.test.threads.size() == count) some.push_back(&one);
  return some;
}

}  // namespace quire::test::litmus
