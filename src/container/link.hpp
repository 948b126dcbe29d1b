// SPDX-License-Identifier: BSD-3-Clause
// A linker at work for one container on one node, and the store that the engine sees of it. Positions are offsets in
// the container.
//
// The end. A container becomes longer by writing, and the nodes that do its I/O are not told before each write where it
// ends now. They know an end that was right once (`known_end`), and what they have flushed; behind it there is zero,
// for nobody has written there yet. So of a range beyond the end that is known zeroes at its end are not flushed: a
// file gets no zeroes behind its content, though units are larger. A sync begins with the end being told to all
// (note_end()); then sync() sees to it that the content has that length: the node that does the I/O of the last byte
// writes it, a zero, if nothing was ever flushed there. A container becomes shorter by set_end() alone.
//
// The gate. The engine says where the content of the region ends (resize()). From then on nothing beyond goes to the
// linker, and what was there has come back: so who cuts a container has the engine cut the region first, on all nodes,
// and then tells the linker, which is filling or flushing nothing of what goes.
//
// Hanging. A function of the linker that does not return within QUIRE_IO_TIMEOUT is named, and given up (callers.hpp).
// Until it returns, nothing else is asked of the linker: it fails with ETIMEDOUT at once. So what was to be read is an
// error, and what was to be written stays in memory. Nobody waits for it, nor does the end of the container: then the
// thread that hangs closes the linker, should it ever come back.
#pragma once

#include <quire/linker.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "container/callers.hpp"
#include "store/store.hpp"

namespace quire::container {

/// How many bytes there are up to the last one that is not zero.
[[nodiscard]] std::size_t used_bytes(std::span<const std::byte> content) noexcept;
/// What a function of a linker has given, as an errno: what is none is EIO, and `sense` is false.
[[nodiscard]] int errno_of(int given, bool& sense) noexcept;

/// Which ranges are this node's. Those of all nodes in turn, unit by unit, or all.
struct part {
  std::uint64_t unit_bytes = 4096;
  unsigned nodes = 1, self = 0;  ///< 1: all are this node's
  [[nodiscard]] bool has(std::uint64_t at) const noexcept { return at / unit_bytes % nodes == self; }
};

/// Of whom lines for people speak.
struct link_names {
  const char* container = "";
  const char* what = "";
};

class link : public std::enable_shared_from_this<link> {
 public:
  // Application threads.
  /// Opens `linker`: 0 or errno; `bytes` as quire_linker::open().
  [[nodiscard]] static std::shared_ptr<link> open(const quire_linker& linker, const link_names& names, unsigned flags,
                                                  std::uint64_t& bytes, int& error);
  /// quire_linker::identify() and remove(), of what nobody has open here. 0 or errno; EOPNOTSUPP: the linker has none.
  [[nodiscard]] static int identify(const quire_linker& linker, const link_names& names, std::uint64_t& identity);
  [[nodiscard]] static int remove(const quire_linker& linker, const link_names& names);
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;
  /// quire_linker::close(), when nobody is in the linker any more. Whoever uses it later gets EBADF.
  void close() noexcept;
  /// What it does the I/O of, and how long the content is. Before anything is filled.
  void begin(const part& which, std::uint64_t bytes) noexcept;

  // As store::store.
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept;
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept;
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept;
  [[nodiscard]] int sync() noexcept;
  /// Nothing from `bytes` on, where the region ends now, is asked of the linker from now on, and what was has come
  /// back: 0, or ETIMEDOUT where it hangs.
  [[nodiscard]] int resize(std::uint64_t bytes) noexcept;
  /// The content was `known_end` long at least. Any thread.
  void note_end(std::uint64_t bytes) noexcept;
  /// The content ends there; the linker has been told, or is told elsewhere (tell_end()). Nothing beyond is being
  /// flushed.
  void set_end(std::uint64_t bytes) noexcept;
  /// On one node: quire_linker::truncate(). 0 or errno.
  [[nodiscard]] int tell_end(std::uint64_t bytes) noexcept;

  /// The linker has nothing beyond, as far as this node knows.
  [[nodiscard]] std::uint64_t end() const noexcept;
  [[nodiscard]] const quire_linker& linker() const noexcept { return linker_; }
  /// That are of use for it.
  [[nodiscard]] unsigned threads() const noexcept {
    return linker_.threads == 0 || linker_.threads > 4 ? 4 : linker_.threads;
  }
  [[nodiscard]] const std::string& what() const noexcept { return what_; }

 private:
  enum class function : std::uint8_t { open, fill, flush, sync, truncate, close, remove, identify };
  class call;
  link(const quire_linker& linker, const link_names& names);
  [[nodiscard]] static std::shared_ptr<link> make(const quire_linker& linker, const link_names& names, int& error);
  /// Has the linker do it: 0 or errno. `into` gets what is filled, `from` is what is flushed, `answer` what open() and
  /// identify() say. Fault context.
  [[nodiscard]] int ask(function which, std::uint64_t at = 0, std::size_t bytes = 0, std::byte* into = nullptr,
                        const std::byte* from = nullptr, std::uint64_t* answer = nullptr) noexcept;
  [[nodiscard]] int enter(call& c) noexcept;
  void leave(call& c) noexcept;
  void leave_late(call& c) noexcept;
  void note_late(call& c, bool is_late) noexcept;
  void close_linker() noexcept;
  [[nodiscard]] int perform(call& c);
  [[nodiscard]] int perform_fill(const call& c);
  void wait_for_change(std::unique_lock<std::mutex>& lock) noexcept;
  [[nodiscard]] std::uint64_t gated(std::uint64_t at, std::uint64_t bytes) const noexcept;
  [[nodiscard]] int flush_tail(std::uint64_t at, std::span<const std::byte> from) noexcept;
  [[nodiscard]] static const char* name_of(function which) noexcept;

  const std::string container_, what_, name_;
  const quire_linker linker_;
  const std::shared_ptr<callers> callers_;
  const unsigned most_inside_;
  void* self_ = nullptr;  ///< the linker's, from open() on
  part part_{};
  bool only_reads_ = false;  ///< it was opened with QUIRE_CONTAINER_READ_ONLY: what memory has is what it has
  std::mutex tail_{};        ///< for flushes that end beyond flushed_end_, and for sync()

  // Under the mutex, which nobody has while he is in the linker, or touches shared memory. Who waits for a change
  // sleeps on `changes_`.
  std::mutex mutex_{};
  std::atomic<std::uint32_t> changes_{0};
  call* first_ = nullptr;           ///< of those that are in the linker
  unsigned inside_ = 0, late_ = 0;  ///< they, and those of them that were given up
  std::uint64_t late_told_ns_ = 0;
  bool is_open_ = false, closed_ = false;
  // Written under the mutex.
  std::atomic<std::uint64_t> gate_{UINT64_MAX};  ///< nothing from here on goes to the linker
  std::atomic<std::uint64_t> known_end_{0};
  std::atomic<bool> told_shorter_{false};
  std::atomic<std::uint64_t> flushed_end_{
      0};  ///< this node has flushed nothing beyond, and the content was so long when it was opened
};

/// The engine's. It lasts longer than the region, as long as its slot has no other: so the link is closed by itself.
class linked_store final : public store::store {
 public:
  explicit linked_store(std::shared_ptr<link> of)
      : link_(std::move(of)),
        grain_(link_->linker().grain),
        threads_(link_->threads()),
        name_("linker " + std::string(link_->linker().name)) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    return link_->fill(at, into);
  }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    return link_->try_fill(at, into);
  }
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override {
    return link_->flush(at, from);
  }
  [[nodiscard]] int sync() noexcept override { return link_->sync(); }
  /// Who cuts the container tells links and linker by set_end() and tell_end(); the engine's end is the capacity again
  /// then.
  [[nodiscard]] int resize(std::uint64_t bytes) noexcept override { return link_->resize(bytes); }
  [[nodiscard]] unsigned threads() const noexcept override { return threads_; }
  [[nodiscard]] std::size_t grain() const noexcept override { return grain_ != 0 ? grain_ : 1; }
  [[nodiscard]] const char* name() const noexcept override { return name_.c_str(); }
  [[nodiscard]] const char* where() const noexcept override { return link_->what().c_str(); }

 private:
  const std::shared_ptr<link> link_;
  const std::size_t grain_;
  const unsigned threads_;
  const std::string name_;
};

}  // namespace quire::container
