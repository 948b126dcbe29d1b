// SPDX-License-Identifier: BSD-3-Clause
// Which of several deaths was the first cause. When a node dies others die of it, and the launcher may hear of these
// first: a node ends itself because it has lost the dead one, or UCX aborts it, before the kernel has reported the dead
// one's end. So an end that may be a consequence waits a moment for one that explains it. Pure: the clock is an input.
// Used by the launcher's job (fate.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quire::bootstrap::launcher {

/// How a node has ended; what comes later in this list explains what comes before it.
enum class manner : std::uint8_t {
  bereaved,  ///< it had lost another, by its own word or exit status
  failed,    ///< by itself: an exit status, or without quire_end()
  crashed,   ///< by a signal that programs cause themselves
  killed,    ///< by a signal from outside: nothing of the job explains that
};
/// Of what waitpid() has reported of an end that is no good one.
[[nodiscard]] manner manner_of(int wait_status) noexcept;

struct ending {
  int node = -1;
  manner how = manner::failed;
  std::string text;  ///< "was killed by signal 9 (Killed)", as it follows the node's name
  int exit_status = 1;
};

class inquest {
 public:
  /// So long may the end that explains another be reported after it.
  static constexpr std::uint64_t hearing_ns = 400'000'000;

  /// A node says that it has lost another, or that it can do nothing without it.
  void on_word_of_loss(int by) { bereaved_.insert(by); }
  /// What it had lost is there again.
  void on_word_withdrawn(int by) { bereaved_.erase(by); }
  void on_end(ending e, std::uint64_t now);
  /// When decide() is due; 0: there is nothing to decide.
  [[nodiscard]] std::uint64_t due() const noexcept { return due_; }
  /// The first cause, once it is certain, or `now` is due. Afterwards there is nothing to decide.
  [[nodiscard]] std::optional<ending> decide(std::uint64_t now);

 private:
  std::set<int> bereaved_;
  std::vector<ending> endings_;
  std::uint64_t due_ = 0;
};

}  // namespace quire::bootstrap::launcher
