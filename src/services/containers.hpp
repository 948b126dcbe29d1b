// SPDX-License-Identifier: BSD-3-Clause
// Containers by name, as node 0 knows them for the job: who makes, removes or renames one, how often each is open on
// which node, and locks of ranges. A machine: requests and other events go in, answers come out. Driver's thread. What
// a thread does for a call of its own is container_call.hpp.
//
// It promises: a name is of one container at a time; who opens one gets it when whoever makes, removes or renames it is
// done; it goes when it has no name, or somebody removes it, and nobody has it open; and who waits for a node that is
// lost goes on. Where the job goes on without node 0 the first node alive answers: what all nodes have noted is found,
// and nothing is made or removed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/fault_heap.hpp"
#include "container/lock_queue.hpp"
#include "container/name_table.hpp"
#include "services/services.hpp"

namespace quire::services {

/// `a` of a request.
enum class container_order : std::uint64_t {
  // To node 0.
  open,   ///< b: container_open flags; the name. Answered with the number, whether to make it, and the region of heads
  heads,  ///< b: the region of heads, which the sender has made, or 0. Answered with the region, and the last number
  made,   ///< b: number; so are the next
  failed,
  closed,   ///< answered with the number, if it goes now, for who asks to remove it; else 0. So is the next
  settled,  ///< of one that was unlinked or renamed
  look_up,  ///< the name. Answered with the number, and the region of heads; so are the next
  unlink,
  rename,     ///< b: exclusive; both names, with a zero between. Answered with both numbers, and the region of heads
  take_away,  ///< the name. Answered with the number
  stays,
  gone,
  lock,       ///< b: number; a container_lock
  test_lock,  ///< the same. Answered with first byte and, in the highest bit, whether it is exclusive; last byte
  // To any other node: survivors.
  noted,    ///< b: number, c: the region of heads; the name. There is such a container
  unnoted,  ///< b: number
  last = unnoted,
};

namespace container_open {
inline constexpr std::uint64_t creates = 1, excludes = 2;
inline constexpr std::uint64_t makes = 1u << 16;  ///< of the answer, beside the number
}  // namespace container_open

/// What travels with `lock`.
struct container_lock {
  container::range_lock wanted{};
  container::lock_wait how{};
  static constexpr std::uint64_t exclusive = std::uint64_t{1} << 63;  ///< of an answer; no file has a byte so far
};

class containers {
 public:
  /// `a` beside QUIRE_LOST: no other node can do it either.
  static constexpr std::uint64_t for_good = UINT64_MAX;
  /// Whether these are a request that the machine takes.
  [[nodiscard]] static bool is_valid(const message& request) noexcept;

  explicit containers(node_id self) noexcept : leads_(self == node_id{0}) {}
  void on_request(const message& request, std::span<const std::byte> value, answers& out);
  /// A node is lost, and the job goes on.
  void on_death(node_id node, answers& out);

  /// A checkpoint: from here to let_go() no container comes or goes, and none is opened. False: some change is under
  /// way; ask again.
  [[nodiscard]] bool hold() noexcept;
  void let_go(answers& out);
  /// At a restart: the region of heads; then, from the smallest number on, as name_table::load().
  void load_heads(std::uint64_t region) noexcept { heads_ = region; }
  void load(std::string_view name, std::uint16_t number) { names_.load(name, number); }

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  struct waiter {
    message request;
    std::array<char, 2 * container::longest_name + 1> text;  ///< one name or, for rename, two
    std::size_t bytes;
  };
  [[nodiscard]] bool is_in_order(const message& request) const noexcept;
  void on_name(const message& request, std::string_view name, answers& out);
  void on_name_after_node_0(const message& request, std::string_view name, answers& out) const;
  void on_close(const message& request, answers& out);
  void on_lock(const message& request, std::span<const std::byte> value, answers& out);
  void on_change(const message& request, std::string_view name);
  [[nodiscard]] container::name_table::answer ask_table(const message& request, std::string_view name);
  void keep_waiting(const message& request, std::string_view text);
  void retry(answers& out);

  bool leads_;  ///< node 0; another one has what it has noted, and counts nothing
  bool held_ = false;
  std::uint64_t heads_ = 0;  ///< the region of heads; others have it from who makes a container, where the job survives
  container::name_table names_{};
  container::lock_queue locks_{};
  base::fault_vector<waiter> waiting_{};  ///< as they came
};

}  // namespace quire::services
