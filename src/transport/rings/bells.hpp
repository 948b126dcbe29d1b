// SPDX-License-Identifier: BSD-3-Clause
// How the nodes of one host wake each other. A node says in a page of shared memory whether it sleeps, and for what it
// wants to be woken; who has sent it something looks there, and only if it sleeps writes to its pipe. So to sleep takes
// a store and no system call before epoll's; and a message for which nobody waits need not wake anybody. Who is killed
// between the two steps of waking somebody leaves him asleep, until the launcher tells him of the death.
//
// The page is the first one of the file that holds a node's rings (rings.cpp). The pipe has no name: the others open it
// by /proc.
//
// Driver's thread only, but for signal(): any thread, any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "os/process.hpp"
#include "transport/transport.hpp"

namespace quire::transport::rings {

class bells {
 public:
  /// How others find the pipe of a node, and know its page.
  struct address {
    std::uint64_t mark = 0;  ///< stands in the page, too
    std::int32_t process = 0;
    std::int32_t pipe = -1;  ///< a descriptor there
  };
  static constexpr std::size_t page_bytes = 64;

  /// `memory` of so many bytes is shared, zero, and valid as long as this. False if the system gives no pipe.
  [[nodiscard]] bool open(void* memory) noexcept;
  [[nodiscard]] const address& own() const noexcept { return own_; }
  /// Becomes readable when this node is woken; -1 if it was not opened.
  [[nodiscard]] int descriptor() const noexcept { return pipe_.first.number(); }

  /// There are so many nodes. Allocates.
  void expect(std::size_t nodes) { peers_.resize(nodes); }
  /// From now on wakes that one, whose page is mapped at `memory`. False if it is not there, or somebody else is.
  [[nodiscard]] bool meet(std::size_t node, const address& theirs, void* memory) noexcept;

  /// From now on messages of this urgency or a higher one wake this node. False: it was woken since the last time. Who
  /// calls looks afterwards whether something has arrived before others could see this.
  [[nodiscard]] bool arm(urgency least) noexcept { return arm_for(least == urgency::now ? for_urgent : for_all); }
  /// As for all messages, of a thread that then sleeps on word() while that is `for_thread`: no pipe is written, and no
  /// other thread is woken.
  [[nodiscard]] bool arm_thread() noexcept { return arm_for(for_thread); }
  [[nodiscard]] futex_word word() const noexcept { return {&page_->state, for_thread}; }
  /// Nothing wakes it any more.
  void disarm() noexcept;
  /// After a message for `node`: wakes it if it sleeps and wants that.
  void wake(std::size_t node, urgency how) noexcept;
  /// Makes the descriptor readable until the next arm().
  void signal() noexcept;

 private:
  enum state : std::uint32_t { awake, for_urgent, for_all, for_thread };
  /// What a node shows to the others.
  struct page {
    std::uint64_t mark;
    std::atomic<std::uint32_t> state;
    std::atomic<std::uint32_t> written;  ///< bytes, or about to be, to the pipe
  };
  static_assert(sizeof(page) <= page_bytes);
  struct peer {
    page* shown = nullptr;
    os::descriptor pipe{};
  };
  [[nodiscard]] bool arm_for(state what) noexcept;
  static void ring(page& shown, int pipe) noexcept;

  address own_{};
  os::descriptor_pair pipe_{};
  page* page_ = nullptr;
  std::uint32_t read_ = 0;  ///< bytes, from the pipe
  std::vector<peer> peers_{};
};

}  // namespace quire::transport::rings
