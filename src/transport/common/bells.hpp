// SPDX-License-Identifier: BSD-3-Clause
// How the nodes of one host wake each other, over UCX's shared memory and over rings. A node says in a page of shared
// memory whether it sleeps, and for what it wants to be woken; who has sent it something looks there, and only if it
// sleeps writes to its pipe. To say so is a store, where UCX takes four system calls to arm and to be armed against;
// and a message for which nobody waits need not wake anybody.
//
// It covers messages that Quire sends. What UCX says to itself while a payload is on its way is for UCX's own
// descriptor: see arm() in ucx.cpp. Who is killed between the two steps of waking somebody leaves him asleep, until
// the launcher tells him of the death.
//
// A page and a pipe have no names: the others open them by /proc, as UCX does with its own memory, and nothing is left
// behind. Where that is not allowed some node has not met all others, and UCX wakes it as before.
//
// Driver's thread only, but for signal(): any thread, any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "os/process.hpp"
#include "transport/transport.hpp"

namespace quire::transport {

class bells {
 public:
  /// How others find the page and the pipe of a node. All zero: it has none.
  struct address {
    std::uint64_t mark = 0;  ///< stands in the page, too
    std::int32_t process = 0;
    std::int32_t page = -1, pipe = -1;  ///< descriptors there
    std::int32_t unused = 0;
  };

  /// False if the system gives no page or pipe; then nobody meets this node.
  [[nodiscard]] bool open() noexcept;
  [[nodiscard]] const address& own() const noexcept { return own_; }
  /// Becomes readable when this node is woken; -1 if it was not opened.
  [[nodiscard]] int descriptor() const noexcept { return pipe_.first.number(); }

  /// `others` [i] is of node i, this node is `self`. Meets those that it can. Allocates.
  void meet(std::size_t self, const std::vector<address>& others);
  /// This node has met that one, and wakes it.
  [[nodiscard]] bool has_met(std::size_t node) const noexcept { return peers_[node].shown != nullptr; }
  /// All others have met this node: they wake it.
  [[nodiscard]] bool met_by_all() const noexcept;

  /// From now on messages of this urgency or a higher one wake this node. False: it was woken since the last time. Who
  /// calls looks afterwards whether something has arrived before others could see this.
  [[nodiscard]] bool arm(urgency least) noexcept;
  /// Nothing wakes it any more.
  void disarm() noexcept;
  /// Around the handing over of a message for `node` to UCX: where several write to a receiver, an urgent one may lie
  /// behind another that is not there yet. Who arms meanwhile is woken for all.
  void begin(std::size_t node, urgency how) noexcept;
  void end(std::size_t node, urgency how) noexcept;
  /// After that: wakes it if it sleeps and wants that.
  void wake(std::size_t node, urgency how) noexcept;
  /// Makes the descriptor readable until the next arm().
  void signal() noexcept;

 private:
  enum state : std::uint32_t { awake, for_urgent, for_all };
  /// What a node shows to the others.
  struct page {
    std::uint64_t mark;
    std::atomic<std::uint32_t> state;
    std::atomic<std::uint32_t> written;  ///< bytes, or about to be, to the pipe
    std::atomic<std::uint32_t> met;      ///< by so many others
    std::atomic<std::uint32_t>
        begun;  ///< messages that are not urgent, and are being handed over. One too many for each who died then
  };
  struct unmapping {
    void operator()(page* p) const noexcept;
  };
  using mapped_page = std::unique_ptr<page, unmapping>;
  struct peer {
    mapped_page shown{};
    os::descriptor pipe{};
  };
  static void ring(page& shown, int pipe) noexcept;
  [[nodiscard]] static peer find(const address& a);
  [[nodiscard]] page* counted(std::size_t node, urgency how) noexcept;

  address own_{};
  os::descriptor memory_{};
  os::descriptor_pair pipe_{};
  mapped_page page_{};
  std::uint32_t read_ = 0;  ///< bytes, from the pipe
  std::vector<peer> peers_{};
};

}  // namespace quire::transport
