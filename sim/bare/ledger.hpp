// SPDX-License-Identifier: BSD-3-Clause
// Which writes must survive. A write is acknowledged when its writer's node has since synchronised, when another node
// has seen it, or when another node has seen what came after it. The ledger numbers the writes of each unit, follows
// who knows which of them, and so tells of each unit up to which number its writes are acknowledged. It shares nothing
// with the protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quire::sim {

class ledger {
 public:
  using number = std::uint64_t;
  /// Of each unit the number of a write: that one, and all before it.
  using knowledge = std::vector<number>;

  ledger() = default;
  ledger(unsigned nodes, unsigned units, std::size_t threads)
      : known_(nodes, knowledge(units)),
        told_(units, knowledge(units)),
        writer_(units),
        acknowledged_(units),
        asked_(threads, knowledge(units)),
        answered_(threads, knowledge(units)) {}

  /// Write number `n` of `unit`, by a thread of `node`.
  void write(unsigned node, std::size_t unit, number n) {
    known_[node][unit] = n;
    add(told_[unit], known_[node]);
    writer_[unit] = node;
  }
  /// A thread of `node` has seen the last write of `unit`.
  void read(unsigned node, std::size_t unit) {
    if (writer_[unit] != node) add(acknowledged_, told_[unit]);
    add(known_[node], told_[unit]);
  }
  /// A thread synchronises, or calls for an operation elsewhere: what its node knows now, others may know when it is
  /// over.
  void ask(unsigned node, std::size_t thread) {
    asked_[thread] = known_[node];
    std::ranges::fill(answered_[thread], 0);
  }
  void synchronised(std::size_t thread) { add(acknowledged_, asked_[thread]); }
  /// The operation of `thread`, done by `node`, is write number `n` of `unit`.
  void operate(unsigned node, std::size_t thread, std::size_t unit, number n) {
    add(known_[node], told_[unit]);
    add(told_[unit], asked_[thread]);
    write(node, unit, n);
    answered_[thread] = told_[unit];
  }
  void answer(unsigned node, std::size_t thread, std::size_t unit) {
    if (writer_[unit] != node) add(acknowledged_, answered_[thread]);
    add(known_[node], answered_[thread]);
  }

  [[nodiscard]] number acknowledged(std::size_t unit) const noexcept { return acknowledged_[unit]; }
  /// Later writes of `unit` are gone with a node.
  void roll_back(std::size_t unit, number n) {
    const auto limit = [&](knowledge& k) { k[unit] = std::min(k[unit], n); };
    std::ranges::for_each(known_, limit);
    std::ranges::for_each(told_, limit);
    std::ranges::for_each(asked_, limit);
    std::ranges::for_each(answered_, limit);
    limit(acknowledged_);
  }
  template <class F>
  void for_each_word(F f) const {
    const auto each = [&](const knowledge& k) { std::ranges::for_each(k, f); };
    std::ranges::for_each(known_, each);
    std::ranges::for_each(told_, each);
    std::ranges::for_each(asked_, each);
    std::ranges::for_each(answered_, each);
    each(acknowledged_);
    std::ranges::for_each(writer_, f);
  }

 private:
  static void add(knowledge& to, const knowledge& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
  }

  std::vector<knowledge> known_{};  ///< [node]
  std::vector<knowledge> told_{};   ///< [unit]: what who wrote it last knew
  std::vector<unsigned> writer_{};  ///< [unit]: of the last write
  knowledge acknowledged_{};
  std::vector<knowledge> asked_{}, answered_{};  ///< [thread]
};

}  // namespace quire::sim
