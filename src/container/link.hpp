// SPDX-License-Identifier: BSD-3-Clause
// A linker at work for one container on one node, and the store that the engine sees of it. Positions are offsets in the container.
//
// The end. A container becomes longer by writing, and the nodes that do its I/O are not told before each write where it ends now. They know an end that was
// right once (`known_end`), and what they have flushed; behind it there is zero, for nobody has written there yet. So of a range beyond the end that is known
// zeroes at its end are not flushed: a file gets no zeroes behind its content, though units are larger. A sync begins with the end being told to all
// (note_end()); then sync() sees to it that the content has that length: the node that does the I/O of the last byte writes it, a zero, if nothing was ever
// flushed there. A container becomes shorter by set_end() alone.
#pragma once

#include <quire/linker.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <semaphore>
#include <span>
#include <string>

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

class link {
 public:
  /// `linker` outlasts it. Opens it: 0 or errno; `bytes` as quire_linker::open(). Application thread.
  [[nodiscard]] static std::shared_ptr<link> open(const quire_linker& linker, const char* what, unsigned flags, std::uint64_t& bytes, int& error);
  ~link() { close(); }
  link(const link&) = delete;
  link& operator=(const link&) = delete;
  /// quire_linker::close(). Nobody uses it any more. Application thread.
  void close() noexcept;
  /// What it does the I/O of, and how long the content is. Before anything is filled.
  void begin(const part& which, std::uint64_t bytes) noexcept;

  // As store::store.
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept;
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept;
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept;
  [[nodiscard]] int sync() noexcept;
  /// The content was `known_end` long at least. Any thread.
  void note_end(std::uint64_t bytes) noexcept;
  /// The content ends there; the linker has been told, or is told elsewhere (tell_end()). Nothing beyond is being flushed.
  void set_end(std::uint64_t bytes) noexcept;
  /// On one node: quire_linker::truncate(). 0 or errno.
  [[nodiscard]] int tell_end(std::uint64_t bytes) noexcept;

  /// The linker has nothing beyond, as far as this node knows.
  [[nodiscard]] std::uint64_t end() const noexcept;
  [[nodiscard]] const quire_linker& linker() const noexcept { return linker_; }
  /// That are of use for it.
  [[nodiscard]] unsigned threads() const noexcept { return linker_.threads == 0 || linker_.threads > 4 ? 4 : linker_.threads; }
  [[nodiscard]] const std::string& what() const noexcept { return what_; }

 private:
  link(const quire_linker& linker, const char* what) : linker_(linker), what_(what), most_turns_(linker.threads != 0 ? linker.threads : 64), turns_(most_turns_) {}
  /// One of those that may be in the linker at a time.
  struct turn {
    explicit turn(link& l) noexcept : of(l) { of.turns_.acquire(); }
    ~turn() { of.turns_.release(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    link& of;
  };
  template <class F>
  int call(const char* name, F&& f) noexcept;
  const quire_linker linker_;
  const std::string what_;
  void* self_ = nullptr;
  bool is_open_ = false, closed_ = false;  ///< change while nobody has a turn
  part part_{};
  const unsigned most_turns_;
  std::counting_semaphore<64> turns_;
  std::mutex tail_{};                       ///< for flushes that end beyond flushed_end_, and for sync()
  std::atomic<std::uint64_t> known_end_{0};
  std::atomic<std::uint64_t> flushed_end_{0};  ///< this node has flushed nothing beyond, and the content was so long when it was opened
};

/// The engine's. It lasts longer than the region, as long as its slot has no other: so the link is closed by itself.
class linked_store final : public store::store {
 public:
  explicit linked_store(std::shared_ptr<link> of)
      : link_(std::move(of)), grain_(link_->linker().grain), threads_(link_->threads()), name_("linker " + std::string(link_->linker().name)) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override { return link_->fill(at, into); }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override { return link_->try_fill(at, into); }
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override { return link_->flush(at, from); }
  [[nodiscard]] int sync() noexcept override { return link_->sync(); }
  /// Who cuts the container tells links and linker by set_end() and tell_end(); the engine's end is the capacity again then.
  [[nodiscard]] int resize(std::uint64_t /*bytes*/) noexcept override { return 0; }
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
