// SPDX-License-Identifier: BSD-3-Clause
// A store: where content comes from and goes to that is not in memory. The page-out file is one, a checkpoint's files
// are another. Whatever has these functions is a third: a folder here, or elsewhere, and a row of the table
// (table.hpp), which a region names.
//
// A position is an offset in the shared addresses of the job: the same on all nodes, and of one region. What was
// flushed last to a position is what a fill of it brings. Nobody flushes a range while a flush or a fill of a part of
// it is under way; ranges that do not overlap are filled and flushed by several threads at a time.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace quire::store {

class store {
 public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  /// What fill() may give for content that begins beyond the end, instead of zeroes: threads get SIGBUS (BUS_ADRERR),
  /// calls QUIRE_BEYOND. A store that does so does it where a whole unit of a range lies beyond the end: what can be
  /// had of the range is asked for again, unit by unit.
  static constexpr int beyond = 4096;  ///< which is no errno: those are all free for a store's own errors

  // These may take as long as a disk does. 0 or errno. Threads of a crew, and of calls of the program; fill() also on
  // the driver's thread, where a step cannot be put off: there it may take no heap memory and no lock (fault context).
  /// Reads all of `into`. After an error its content means nothing.
  [[nodiscard]] virtual int fill(std::uint64_t at, std::span<std::byte> into) noexcept = 0;
  /// Writes all of `from`, whose bytes may change meanwhile: then what is there afterwards means nothing, nor after an
  /// error.
  [[nodiscard]] virtual int flush(std::uint64_t at, std::span<const std::byte> from) noexcept = 0;
  /// What was flushed before outlives this process. A store whose content ends with it has nothing to do.
  [[nodiscard]] virtual int sync() noexcept { return 0; }

  /// The content has so many bytes from now on: what it loses is gone, what it gains is zero. Ranges that go may be on
  /// their way meanwhile: the store sees to it that nothing of them is there afterwards, what a fill brings of them
  /// means nothing. Of what several nodes' stores have in common it is about this node's units alone, as another one
  /// may have been cut, or have grown, before. A store without an end has nothing to do.
  [[nodiscard]] virtual int resize(std::uint64_t /*bytes*/) noexcept { return 0; }

  // These do not block, and take neither heap memory nor a lock: driver's thread, fault context.
  /// As fill(), if that is a matter of microseconds; else EAGAIN.
  [[nodiscard]] virtual int try_fill(std::uint64_t, std::span<std::byte>) noexcept { return EAGAIN; }
  /// What is there means nothing any more. A store that cannot give the room back keeps it.
  virtual void forget(std::uint64_t /*at*/, std::uint64_t /*bytes*/) noexcept {}
  /// Ranges are whole multiples of it.
  [[nodiscard]] virtual std::size_t grain() const noexcept { return 1; }
  /// Where the content ends; what is flushed beyond is not kept. No end: UINT64_MAX.
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept { return UINT64_MAX; }
  /// Threads of a region's own store that may be in its functions at a time, 1 or more: it has a crew of its own, so
  /// that no other store waits for it.
  [[nodiscard]] virtual unsigned threads() const noexcept { return 4; }
  /// For people: "page-out file".
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// For people: the directory, say, that has it.
  [[nodiscard]] virtual const char* where() const noexcept = 0;

  void* team = nullptr;  ///< the crew's (crew::hire())
};

/// What a node's stores are made with.
struct settings {
  std::string directory{};  ///< QUIRE_PAGE_OUT_DIR; empty: wherever temporary files go
};

/// A store as a node knows it. Each node makes one of a row when a region first names it.
struct row {
  std::uint8_t id = 0;  ///< that regions name; 0 is the one of regions that name none
  const char* name = "";
  std::unique_ptr<store> (*make)(const settings&) = nullptr;
};

}  // namespace quire::store
