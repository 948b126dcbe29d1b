// SPDX-License-Identifier: BSD-3-Clause
// Reads what all nodes of a job have recorded (events.hpp) side by side, in an order that agrees with what they heard
// of each other, and tells
//
//   races     two nodes wrote the same byte, neither had heard of the other's interval: data races, after
//             Perkovic and Keleher, "Online Data-Race Detection via Coherency Guarantees" (OSDI 1996), but of writes
//   broken    a node had heard of the last interval in which a page was written, and began to write on other content:
//             a promise of release consistency is broken
//
// A page with a race promises nothing. An interval i of node V comes before what node X writes if X has applied V's
// notices up to i. Pages whose last writes have no order, and those whose content changed in a way that is not
// recorded, promise nothing.
//
// Where a node had a page for itself nobody noticed what it wrote. If another one then writes it without order, nobody
// knows whether the same bytes: the page is counted.
//
// Writes are kept until all nodes have heard of them; of one page a few at most. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "races/events.hpp"

namespace quire::races {

/// One of the two sides of a finding.
struct side {
  std::uint64_t node = 0;
  site at{};
  friend bool operator==(const side&, const side&) noexcept = default;
};

struct race {
  side first{}, second{};     ///< first.node < second.node
  std::uint64_t address = 0;  ///< of one of the bytes, the lowest
  std::uint64_t bytes = 0;    ///< that are next to it, and were written by both
  std::uint64_t last = 0;     ///< the highest address of all
  std::uint64_t times = 0;    ///< intervals in which it was found
};

struct broken_promise {
  side writer{}, reader{};
  std::uint64_t address = 0, interval = 0;
  std::uint64_t times = 0;
};

struct findings {
  std::vector<race> races{};
  std::vector<broken_promise> broken{};
  std::uint64_t races_left_out = 0;  ///< kinds of races beyond `checker::most_kinds`
  std::uint64_t unseen = 0;          ///< pages that two nodes wrote without order, nobody knows where
  std::uint64_t forgotten = 0;       ///< writes beyond `checker::most_writes_of_a_page`, which were compared no longer
  std::uint64_t writes = 0;          ///< write sets that were compared
  std::uint64_t intervals = 0;
  std::uint64_t continued = 0;       ///< write sets that were to begin with what another node had left, and did
  std::vector<std::uint64_t> cut{};  ///< nodes whose record has no end
};

class checker {
 public:
  static constexpr std::size_t most_kinds = 256, most_writes_of_a_page = 64;
  explicit checker(std::uint64_t nodes);

  /// The next bytes of a node's file. False: it is no such file, or of another job. Read none further ahead than
  /// wants() says.
  [[nodiscard]] bool feed(std::uint64_t node, std::span<const std::byte> bytes);
  /// There are no more.
  void end_of(std::uint64_t node);
  /// The node of which bytes are needed; nodes(): of none, all is read.
  [[nodiscard]] std::uint64_t wants();
  [[nodiscard]] std::uint64_t nodes() const noexcept { return streams_.size(); }
  [[nodiscard]] const findings& found() const noexcept { return found_; }

 private:
  struct stream {
    reader in{};
    bool begun = false, fed_all = false, over = false, wrong = false;
    bool has_next = false;
    event next{};
    std::uint64_t passed = 0;            ///< intervals of this node
    std::vector<std::uint64_t> known{};  ///< by node
    std::vector<site> sites{};
    /// Of the open release, and of those that belong to no interval so far: the interval's number, ~0 until it is
    /// known.
    std::shared_ptr<std::uint64_t> current{};
    std::deque<std::shared_ptr<std::uint64_t>> released{};
    std::uint64_t settled = 0;  ///< releases that belong to intervals
  };
  struct write {
    std::uint64_t node = 0, site_number = 0;
    bool unseen = false;
    std::shared_ptr<std::uint64_t> interval{};                     ///< ~0: it has not ended
    std::vector<std::pair<std::uint64_t, std::uint64_t>> bytes{};  ///< line, bytes of it
  };
  /// A promise seems to be broken, unless a write turns up that has no order with the reader's: content may have it.
  struct doubt {
    broken_promise what{};
    std::shared_ptr<std::uint64_t> interval{};  ///< the reader's
  };
  struct page {
    std::vector<write> writes{};
    std::vector<doubt> doubts{};
    bool raced = false;    ///< two nodes wrote it without order: it promises nothing
    bool unseen = false;   ///< the same, but nobody knows whether the same bytes
    bool chained = false;  ///< who follows the last write begins with what it has left
    std::uint64_t lines = 0, content = 0, last_node = 0, last_site = 0;
    std::shared_ptr<std::uint64_t> last_interval{};
  };
  [[nodiscard]] bool may_pass(const stream& s) const;
  void pass(std::uint64_t node, stream& s);
  void on_written(std::uint64_t node, stream& s, const event& e);
  void on_unseen(std::uint64_t node, stream& s, const event& e);
  /// It is kept, to be compared with what comes.
  write& add(page& p, std::uint64_t node, const stream& s, const event& e);
  void compare_with_all(page& p, std::uint64_t node, const stream& s, const event& e);
  /// Whether they have bytes in common.
  [[nodiscard]] bool compare_with(const write& before, std::uint64_t node, const event& e);
  void check_content(page& p, std::uint64_t node, const stream& s, const event& e);
  void settle(page& p, std::uint64_t node, const stream& s);
  void confirm(const broken_promise& b);
  [[nodiscard]] bool is_known_to_all(std::uint64_t node, std::uint64_t interval) const;
  [[nodiscard]] side side_of(std::uint64_t node, std::uint64_t site_number) const;

  std::vector<stream> streams_;
  std::unordered_map<std::uint64_t, page> pages_{};  ///< by first line of the write set
  bool settled_ = false;
  findings found_{};
};

}  // namespace quire::races
