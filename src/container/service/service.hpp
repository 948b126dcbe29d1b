// SPDX-License-Identifier: BSD-3-Clause
// Containers (quire/container.h). Node 0 knows their names (services/containers.hpp). What nodes have in common of
// one, its head, lies in shared memory: a unit of a region of the library's own, with sequential consistency, which the
// first container makes. So how long a container is costs no message. Nodes that do the I/O of one have its linker open
// (container/link.hpp); they do so when the node asks that makes it, by a thread that the order starts, as the driver
// does not wait for a disk. Bodies of the API: container_service.cpp (opening, the end), container_names.cpp (other
// names, and none), container_locks.cpp, container_make.cpp (making, removing, orders), container_content.cpp.
//
// Where the job goes on when nodes are lost, containers are read-only, and heads change no more once they are made.
// Then the maker sends the head to all nodes, and has them note the name: whichever node is lost, all others know of
// the container. Each opening has a copy of the head, and who looks at heads asks for them first (read_head()), so that
// no thread of the library gets a signal for one whose maker has been lost. The first node alive answers for node 0
// when that is lost; nothing is made or removed from then on, as regions are not. Names never change there.
#pragma once

#include <quire/container.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "services/node/threads.hpp"
#include "base/detail.hpp"
#include "checkpoint/manifest.hpp"
#include "checkpoint/store.hpp"
#include "container/link.hpp"
#include "container/linker_table.hpp"
#include "container/lock_table.hpp"
#include "container/shape.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/kept_run.hpp"
#include "region/registry.hpp"
#include "region/services.hpp"
#include "services/container_call.hpp"
#include "services/container_making.hpp"
#include "services/containers.hpp"

namespace quire::api {

/// Of a container, for all nodes. Who makes it writes it, before others know the number; afterwards `bytes`,
/// `announced` and `owed` alone change, under the mutex.
struct container_head {
  std::uint64_t bytes;      ///< plain loads, from any node
  std::uint64_t announced;  ///< the nodes that do I/O know this end
  std::uint64_t there;      ///< 0: it is being made, or is none. Else nothing below changes but the name, and that only
                            ///< where this is `unnamed`
  std::uint64_t mutex;      ///< for growing, appending, truncating; kept for the next container of the number
  std::uint64_t region, base, capacity, unit_bytes;
  std::uint64_t linked_bytes;  ///< as the linker has said
  std::uint32_t read_only, atomic;
  std::uint32_t linked;         ///< it has a linker, not "memory"
  std::uint32_t can, grain;     ///< of the linker
  std::uint32_t all, home;      ///< all nodes do the I/O, in turn; else `home` does
  std::uint32_t spare, unused;  ///< not 0: all nodes have it open, for when `home` is lost
  std::uint64_t owed;           ///< not 0: it is shorter, and the linker's content is not yet
  char name[container::longest_name + 1];
  char linker[container::longest_linker + 1];
  char what[container::longest_what + 1];
};
/// Of container_head::there. `unnamed`: it has lost its name, and goes when nobody has it open any more; or another
/// name is being written.
inline constexpr std::uint64_t none = 0, named = 1, unnamed = 2;
inline constexpr std::uint64_t head_bytes = 4096;
static_assert(sizeof(container_head) <= head_bytes);

class container_service {
 public:
  /// `ordered`: begins a thread for carry_out().
  container_service(core::core& e, region::registry& regions, thread_service& threads,
                    thread_service::procedure ordered);
  ~container_service();
  container_service(const container_service&) = delete;
  container_service& operator=(const container_service&) = delete;

  // Application threads: bodies of the API.
  [[nodiscard]] base::status open(const char* name, const quire_container_options& given, quire_container& made);
  [[nodiscard]] base::status close(quire_container c);
  [[nodiscard]] base::status remove(const char* name, unsigned flags);
  [[nodiscard]] base::status region(quire_container c, quire_region& region);
  [[nodiscard]] base::status map(quire_container c, void** address, std::uint64_t* capacity);
  [[nodiscard]] base::status bytes(quire_container c, std::uint64_t& bytes);
  [[nodiscard]] base::status truncate(quire_container c, std::uint64_t bytes);
  [[nodiscard]] base::status read(quire_container c, std::uint64_t at, void* buffer, std::size_t bytes,
                                  std::size_t& done);
  [[nodiscard]] base::status write(quire_container c, std::uint64_t at, const void* buffer, std::size_t bytes,
                                   std::size_t& done);
  [[nodiscard]] base::status append(quire_container c, const void* buffer, std::size_t bytes, std::uint64_t& at);
  [[nodiscard]] base::status sync(quire_container c, std::uint64_t at, std::uint64_t bytes);
  [[nodiscard]] base::status drop(quire_container c, std::uint64_t at, std::uint64_t bytes);
  [[nodiscard]] base::status list(int (*each)(void*, const char*, std::uint64_t, unsigned), void* context);
  // Of mounted files. Texts of errors name no call.
  struct facts {
    std::uint64_t bytes = 0, identity = 0;  ///< identity: no other container ever has it
    bool read_only = false;
  };
  /// QUIRE_NOT_FOUND.
  [[nodiscard]] base::status look_up(const std::string& name, facts& into);
  [[nodiscard]] base::status facts_of(quire_container c, facts& into);
  /// The name goes at once, on all nodes; the container, when nobody has it open any more. QUIRE_NOT_FOUND.
  [[nodiscard]] base::status unlink(const std::string& name);
  /// The container has another name from here on, on all nodes, and stays open where it is; one that had the name goes
  /// as by unlink(), and at no time is there none. QUIRE_NOT_FOUND; QUIRE_EXISTS: `exclusive`, and there is one. As
  /// unlink(), QUIRE_UNSUPPORTED where the job goes on without nodes that are lost.
  [[nodiscard]] base::status rename(const std::string& from, const std::string& to, bool exclusive);
  /// The owner's node is this one. QUIRE_BUSY: another owner's lock is in the way; QUIRE_LIMIT: there are too many.
  [[nodiscard]] base::status lock(quire_container c, container::range_lock wanted, container::lock_wait how);
  /// Sets kind and range of `wanted` to those of one that is in the way. QUIRE_NOT_FOUND: none is.
  [[nodiscard]] base::status test_lock(quire_container c, container::range_lock& wanted);

  [[nodiscard]] container::linker_table& linkers() noexcept { return linkers_; }
  /// Whether it is a container's, of whichever node. Any thread but the driver.
  [[nodiscard]] bool is_container(std::uint64_t region);
  /// What an order of another node has asked for, by a thread that the order has started; answers it.
  void carry_out(const model::message& order) noexcept;
  /// The job ends: what is open here is kept. What could not be kept is told by a line.
  void end();

  // Checkpoints and restart (container_saving.cpp). One application thread of each node.
  /// Node 0: from here to let_names_go() no container comes or goes, and none is opened.
  void hold_names();
  void let_names_go();
  /// All containers that there are, while names are held. Read-only ones: only on node 0 with what their linkers say of
  /// them.
  [[nodiscard]] checkpoint::outcome describe(checkpoint::manifest& m);
  /// While content is held: what the linkers have of containers that are saved page by page, as far as this node does
  /// their I/O.
  [[nodiscard]] std::vector<core::kept_run> kept_by_linkers(const checkpoint::manifest& m);
  /// While content is held: files that several nodes write have what this node has flushed, for all of them.
  [[nodiscard]] checkpoint::outcome sync_files(const checkpoint::manifest& m);
  /// Then, copies the files of containers whose home this node is.
  [[nodiscard]] checkpoint::outcome copy_files(const std::string& directory, checkpoint::manifest& m);
  /// Whether what `m` says can be had on this node: linkers, files that must not have changed, copies that must be
  /// whole.
  [[nodiscard]] checkpoint::outcome check_saved(const std::string& directory, const checkpoint::manifest& m);
  /// Files get the content that they had, and linkers are opened. Sets in `m` which nodes do the I/O from now on, and
  /// where regions have their homes. All nodes call; statuses as of agree(), which has told them.
  [[nodiscard]] quire_status link_saved(const std::string& directory, checkpoint::manifest& m);
  /// The same, when memory has the content of other regions: names are known again, and linkers get what was saved of
  /// memory.
  [[nodiscard]] quire_status load(const checkpoint::opened& from, const checkpoint::manifest& m);

 private:
  using order = services::container_order;
  using steps = services::container_call::step::kind;
  /// Of a node that does I/O; `a` of a request, after those of services::container_order.
  enum class io_order : std::uint64_t {
    // Done by its driver.
    written = static_cast<std::uint64_t>(order::last) + 1,  ///< b: number. Answered with the end of what its linker
                                                            ///< may have
    note_end,                                               ///< b: number, c: bytes
    // The same, by a thread.
    attach,    ///< b: number, c: flags of quire_linker::open(). Answered with the bytes that there are, or an errno
    identify,  ///< b: number. Answered with the identity
    offer,     ///< b: number: the head says which part is this node's
    set_end,   ///< b: number, c: bytes
    tell_end,  ///< the same
    detach,    ///< b: number
    examine,   ///< b: number: of one that is read-only. Answered with how long the content is, and when it changed last
               ///< (0: unknown)
    erase,     ///< b: number: the content goes
  };
  /// Why a thread could not carry one out, beside the errno.
  static constexpr std::uint64_t no_linker = 1;
  struct opening {
    std::uint16_t number = 0;
    bool writes = false;
    container_head* head = nullptr;
    std::unique_ptr<container_head> own_head{};  ///< where the job survives: it is that one
    std::uint64_t base = 0, capacity = 0;
    /// Of the container on this node, where calls pin what they use: a pin is the node's, and keeps out none of its
    /// threads. Of all locks that a call takes the last. Else null.
    std::shared_ptr<std::mutex> pins{};
  };
  using opening_ptr = std::shared_ptr<opening>;
  struct answer {
    base::status why{};
    std::uint64_t a = 0, b = 0;
  };
  /// What there is of a container that is being made.
  struct making;

  // container_service.cpp
  void on_message(const model::message& m, std::span<const std::byte> value);
  void on_io_order(const model::message& m);
  /// The thread goes through the call: does(step) is asked for what is no question. `last`: the last answer.
  template <class Does>
  [[nodiscard]] base::status go(services::container_call& call, std::string_view name, Does&& does,
                                model::message& last);
  [[nodiscard]] services::container_call::surroundings around() const noexcept {
    return {core_.config.nodes, core_.config.survives};
  }
  /// A question of one step.
  [[nodiscard]] base::status ask_first(order what, std::uint64_t b, std::string_view name, model::message& m);
  [[nodiscard]] answer ask(unsigned node, io_order what, std::uint64_t b, std::uint64_t c);
  [[nodiscard]] container_head* head_of(std::uint16_t number) const noexcept;
  /// False if nobody has it any more.
  [[nodiscard]] bool read_head(std::uint16_t number, container_head& into) const noexcept;
  // Survivors.
  /// The first head that this node writes of a number it makes.
  [[nodiscard]] base::status claim_head(std::uint16_t number) const noexcept;
  /// All nodes have the head as it is.
  void spread_head(std::uint16_t number) noexcept;
  void tell_others(order what, std::uint16_t number, std::string_view name) noexcept;
  /// f(number, head) for each container that is there, until it gives true.
  template <class F>
  [[nodiscard]] base::status for_each_head(F&& f);
  [[nodiscard]] opening_ptr find(const char* call, quire_container c, base::status& why);
  /// `head` is a copy.
  [[nodiscard]] quire_container add(std::uint16_t number, bool writes, const container_head& head);
  [[nodiscard]] base::status open_there(std::uint16_t number, const quire_container_options& given,
                                        quire_container& made);

  // container_names.cpp
  void finish_opening(std::uint16_t number);
  [[nodiscard]] base::status take_apart(steps what, std::uint16_t number);

  // container_locks.cpp
  [[nodiscard]] base::status ask_lock(order what, quire_container c, container::range_lock& wanted,
                                      container::lock_wait how, model::message& m);

  // container_make.cpp
  [[nodiscard]] base::status make(std::uint16_t number, const char* name, const quire_container_options& given);
  [[nodiscard]] base::status make_heads();
  [[nodiscard]] base::status link_up(making& what);
  [[nodiscard]] base::status plan(making& what, services::container_making::wanted& wanted);
  [[nodiscard]] base::status attach(making& what, unsigned node, bool first, bool cuts);
  [[nodiscard]] base::status take_shape(making& what, bool everywhere);
  [[nodiscard]] base::status create(making& what);
  [[nodiscard]] base::status settle(making& what);
  void withdraw(container_head& head, std::uint16_t number);
  /// Nodes that do the I/O.
  template <class F>
  void for_each_io(const container_head& head, F&& f) const {
    if (head.linked == 0) return;
    const bool everywhere = head.all != 0 || head.spare != 0;
    const unsigned first = everywhere ? 0 : head.home, end = everywhere ? core_.config.nodes : head.home + 1;
    for (unsigned node = first; node < end; ++node) f(node);
  }
  [[nodiscard]] answer do_here(io_order what, std::uint16_t number, std::uint64_t c) noexcept;
  [[nodiscard]] answer attach_here(std::uint16_t number, const container_head& head, unsigned flags);
  [[nodiscard]] answer offer_here(std::uint16_t number, const container_head& head);
  [[nodiscard]] std::shared_ptr<container::link> link_of(std::uint16_t number);

  // container_saving.cpp
  [[nodiscard]] answer examine_here(const container_head& head);
  [[nodiscard]] bool is_home_of(const checkpoint::container_row& row) const noexcept;
  [[nodiscard]] checkpoint::outcome check_one(const std::string& directory, const checkpoint::container_row& row);
  [[nodiscard]] quire_status share_out_saved(checkpoint::manifest& m);
  [[nodiscard]] checkpoint::outcome link_one(const checkpoint::container_row& row, const checkpoint::manifest& m,
                                             bool creates);
  [[nodiscard]] checkpoint::outcome refill(const checkpoint::opened& from, const checkpoint::container_row& row,
                                           const checkpoint::region_row& region);

  // container_content.cpp
  class locked;
  [[nodiscard]] static std::unique_lock<std::mutex> nobody_pins(const opening& o);
  [[nodiscard]] base::status check_writes(const char* call, const opening& o) const;
  [[nodiscard]] base::status grow(const char* call, const opening& o, std::uint64_t bytes);
  [[nodiscard]] answer cut_linker(const opening& o);
  [[nodiscard]] base::status tell_linker(const char* call, const opening& o, std::uint64_t bytes);
  [[nodiscard]] base::status write_longer(const char* call, const opening& o, std::uint64_t at, const std::byte* from,
                                          std::size_t bytes, std::size_t& done);
  [[nodiscard]] base::status can_grow(const char* call, const opening& o, std::uint64_t bytes) const;
  [[nodiscard]] base::status copy(const char* call, const opening& o, std::uint64_t at, std::byte* out,
                                  const std::byte* in, std::size_t bytes, std::size_t& done);
  [[nodiscard]] base::status copy_plainly(const char* call, const opening& o, std::uint64_t at, std::byte* out,
                                          const std::byte* in, std::size_t bytes, std::size_t& done);
  [[nodiscard]] base::status cut_beyond_end(const char* call, const opening& o);
  [[nodiscard]] base::status shrink(const char* call, const opening& o, std::uint64_t bytes);
  [[nodiscard]] base::status keep(const char* call, const opening& o, std::uint64_t at, std::uint64_t bytes);
  [[nodiscard]] base::status announce(const opening& o);

  core::core& core_;
  region::registry& regions_;
  thread_service& threads_;
  const thread_service::procedure ordered_;
  container::linker_table linkers_{};
  std::atomic<std::uint64_t> heads_{0};  ///< the region of heads, once this node knows it
  std::mutex mutex_{};  ///< for the next four; nobody touches shared memory under it, nor calls a linker
  std::map<std::uint64_t, opening_ptr> openings_{};
  std::uint64_t next_ = 1;
  std::array<std::shared_ptr<container::link>, container::most_containers + 1> links_{};
  std::map<std::uint16_t, std::weak_ptr<std::mutex>> pins_{};  ///< opening::pins
  std::atomic<unsigned> leader_{0};                            ///< who answers for names
  services::containers names_;                                 ///< driver's thread
};

template <class F>
base::status container_service::for_each_head(F&& f) {
  model::message m;
  if (const auto why = ask_first(order::heads, 0, {}, m); !why.ok()) return why;
  if (m.a == 0) return {};
  heads_.store(m.a, std::memory_order_release);
  const auto last = static_cast<std::uint16_t>(m.b);
  for (std::uint16_t number = 1; number <= last; ++number) {
    if (!core_.config.survives) {
      const container_head& head = *head_of(number);
      if (__atomic_load_n(&head.there, __ATOMIC_ACQUIRE) != 0 && f(number, head)) break;
    } else if (container_head head; read_head(number, head) && head.there != 0 && f(number, head)) {
      break;
    }
  }
  return {};
}

template <class Does>
base::status container_service::go(services::container_call& call, std::string_view name, Does&& does,
                                   model::message& last) {
  std::string said;
  unsigned leader = leader_.load();
  auto next = call.begin(leader);
  while (next.what != steps::over) {
    if (next.what != steps::ask) {
      const base::status done = does(next.what);
      if (!done.ok()) said = base::detail();
      next = call.on_done(done.code());
      continue;
    }
    last = {};
    last.a = static_cast<std::uint64_t>(next.order);
    last.b = next.b;
    const std::string_view text = next.has_name ? name : std::string_view();
    const auto got = core_.ask(model::node_id{static_cast<std::uint16_t>(next.node)},
                               static_cast<std::uint32_t>(region::service::container), last,
                               std::as_bytes(std::span(text.data(), text.size())));
    next = call.on_answer(got.code(), last.a, last.b);
    if (call.heads() != 0) heads_.store(call.heads(), std::memory_order_release);
  }
  while (leader < call.leader() && !leader_.compare_exchange_weak(leader, call.leader())) continue;
  return said.empty() || next.why == QUIRE_OK ? base::status(next.why)
                                              : base::status(base::explain(next.why, "%s", said.c_str()));
}

/// An errno of a linker, as a status.
[[nodiscard]] quire_status status_of_errno(int error) noexcept;

}  // namespace quire::api
