// SPDX-License-Identifier: BSD-3-Clause
// What nodes say of each other when one hears nothing of another: gathered for a moment, since the word of one alone
// may mean that it is itself cut off. Pure; the launcher's job keeps one of these.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quire::bootstrap::launcher {

struct accusation {
  int by = -1, whom = -1;
  std::uint64_t silent_ms = 0;  ///< 0: its connection is lost
};

class accusations {
 public:
  void add(const accusation& one);
  /// `by` has heard `whom` again.
  void withdraw(int by, int whom);
  /// Only what was said of nodes of which `guilty` holds, if it holds of any.
  void narrow(const std::function<bool(int)>& guilty);
  /// What was said of a node means nothing any more: it is known what has become of it.
  void drop(int whom);
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// The one that most others accuse; the first accused of several. Not when empty.
  [[nodiscard]] accusation worst() const;
  /// Another one that as many accuse as the worst; by -1: none.
  [[nodiscard]] accusation rival() const;
  /// It has something to say itself, so it lives.
  [[nodiscard]] bool speaks(int node) const;

 private:
  [[nodiscard]] int count(int whom) const;
  std::vector<accusation> all_;
};

/// " does not answer: ..." as it follows the name of the accused. `now_s`: seconds since 1970.
[[nodiscard]] std::string text_of(const accusation& about, std::int64_t now_s);

}  // namespace quire::bootstrap::launcher
