// SPDX-License-Identifier: BSD-3-Clause
// What a mounted directory shows: files by name, in one flat directory. container/files has a body over containers,
// tests one in memory; session.cpp, which knows FUSE, calls it from its own threads, several at a time. A call may
// block. Each gives 0 or a number of errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quire::mount {

struct file_facts {
  std::uint64_t bytes = 0;
  std::uint64_t identity = 0;  ///< of the file that has the name now: no other one ever has it. Not in lists
  bool read_only = false;      ///< its content does not change: the kernel may cache it
};

struct named_file {
  std::string name;
  file_facts facts{};
};

/// As fcntl and flock have it. Of one owner.
struct file_lock {
  enum class kind : std::uint8_t { none, shared, exclusive };
  std::uint64_t owner = 0;            ///< as the kernel of this host calls it
  bool of_flock = false;              ///< flock's and fcntl's do not know each other
  kind is = kind::none;               ///< none: what the owner has there goes
  std::uint64_t first = 0, last = 0;  ///< bytes, both of the range
};

/// What is to happen if a lock is not free.
enum class lock_wait : std::uint8_t {
  none,
  queues,    ///< it waits, in the order in which requests came: it is asked for again, until it is got or withdrawn
  withdraws  ///< it waits no more
};

class files {
 public:
  /// Of one opening.
  using handle = std::uint64_t;
  virtual ~files() = default;

  [[nodiscard]] virtual int list(std::vector<named_file>& into) = 0;
  /// ENOENT.
  [[nodiscard]] virtual int look_up(const std::string& name, file_facts& into) = 0;
  /// ENOENT; EACCES: `writes`, and it is for reading only.
  [[nodiscard]] virtual int open(const std::string& name, bool writes, handle& into) = 0;
  /// Makes it, with no bytes, and opens it for writing. EEXIST.
  [[nodiscard]] virtual int create(const std::string& name, handle& into) = 0;
  /// The handle is gone. Nobody hears of errors any more: sync() is called before for what was written.
  virtual void close(handle) = 0;
  [[nodiscard]] virtual int facts(handle, file_facts& into) = 0;
  /// Reads up to `size` bytes from `at`; `done` is less at the end of the file only.
  [[nodiscard]] virtual int read(handle, std::uint64_t at, void* into, std::size_t size, std::size_t& done) = 0;
  /// The file grows, if needed. EFBIG, ENOSPC; an error if nothing at all was written.
  [[nodiscard]] virtual int write(handle, std::uint64_t at, const void* from, std::size_t size, std::size_t& done) = 0;
  /// At the end, wherever that is when other nodes append, too; as a whole.
  [[nodiscard]] virtual int append(handle, const void* from, std::size_t size) = 0;
  /// EFBIG; EOPNOTSUPP if its size cannot change.
  [[nodiscard]] virtual int truncate(handle, std::uint64_t bytes) = 0;
  /// What was written before outlives the job.
  [[nodiscard]] virtual int sync(handle) = 0;
  /// The name goes, and the file when nobody has it open any more. ENOENT.
  [[nodiscard]] virtual int remove(const std::string& name) = 0;
  /// The file `from` is `to`, open or not. One that was `to` goes as by remove(), and at no time is there none. ENOENT;
  /// EEXIST: `exclusive`, and there is one.
  [[nodiscard]] virtual int rename(const std::string& from, const std::string& to, bool exclusive) = 0;
  /// For all hosts; does not wait. EAGAIN: another owner's lock, or who waits for longer, is in the way; EDEADLK: one
  /// that waits would wait for ever; ENOLCK: there are too many.
  [[nodiscard]] virtual int lock(handle, const file_lock& wanted, lock_wait how) = 0;
  /// Sets kind and range of `wanted` to those of a lock that is in the way. ENOENT: none is.
  [[nodiscard]] virtual int test_lock(handle, file_lock& wanted) = 0;
  /// How much files may have together, and what of it is free.
  virtual void space(std::uint64_t& bytes, std::uint64_t& free) = 0;
};

/// Of a name, in bytes.
inline constexpr std::size_t most_name_bytes = 63;

}  // namespace quire::mount
