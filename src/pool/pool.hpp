// SPDX-License-Identifier: BSD-3-Clause
// A page pool: one physical page, two access paths. The application view is what programs use and carries the
// protections; the system view is always readable and writable and only the runtime uses it, so that a page can be
// updated while no thread may see it (ParADE's atomic page update problem; Millipage's privileged view). A pool may
// have further application views of the same pages, each with protections of its own (Millipage: MultiView). One folder
// a body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "os/address_space.hpp"

namespace quire::pool {

/// What the application view shows.
enum class view_kind : std::uint8_t {
  shared,  ///< the frames: what a thread writes is in them
  /// The frames, and private copies of pages that threads have written: the kernel makes a copy at the first write, and
  /// nothing of it reaches the frame. The system view is of the frames as ever. A page without a copy shows what is
  /// written to its frame. A copy lives until the page is dropped (detect::detector::protect() to none), the view shows
  /// frames again, or the pool ends; give_back() leaves it.
  private_copies,
};

class pool {
 public:
  virtual ~pool() = default;
  [[nodiscard]] virtual std::byte* application_view() const noexcept = 0;
  [[nodiscard]] virtual std::byte* system_view() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
  /// Makes sure that frames exist for a page range (offset and length in bytes), zero if new. 0 or errno. Fault
  /// context.
  [[nodiscard]] virtual int populate(std::uint64_t offset, std::size_t bytes) noexcept = 0;
  /// Gives the frames of a page range, which nobody uses, back to the system; the next use finds new ones. 0 or errno.
  [[nodiscard]] virtual int give_back(std::uint64_t offset, std::size_t bytes) noexcept = 0;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// For people: what is used up when there is no frame for a page (populate() gives EFAULT, a store SIGBUS), and what
  /// helps.
  [[nodiscard]] virtual const char* when_full() const noexcept = 0;
  /// Gives up all frames and both views, for good: the addresses of the application view are a reservation again, which
  /// nobody may access. Nothing is left but the object. 0 or errno. Driver's thread.
  [[nodiscard]] virtual int leave() noexcept = 0;
  /// Of a pool that was made with private copies: the application view shows the frames from now on, or frames and
  /// copies, of which there are none. Its pages permit nothing until make_accessible(). 0 or errno; EOPNOTSUPP of other
  /// pools. Driver's thread, when nobody accesses the view.
  [[nodiscard]] virtual int show(view_kind) noexcept;
  /// The application view is read-write, as make() has it with `accessible`. 0 or errno.
  [[nodiscard]] virtual int make_accessible() noexcept;
  /// Its frames are those of a host (settings::host_file), or were, and end_host() has not been called.
  [[nodiscard]] virtual bool of_host() const noexcept { return false; }
  /// Of such a pool: it has frames of its own from now on, of zeros. Its application views permit nothing until
  /// make_accessible(); what the host has of the same range is at `host` until end_host(). 0 or errno. Driver's thread,
  /// when nobody accesses the system view.
  [[nodiscard]] virtual int own_frames(std::byte*& host) noexcept;
  /// After own_frames(), when no node of the host needs its frames of the range any more: they go. Else leave() leaves
  /// them to the other nodes. Driver's thread.
  virtual void end_host() noexcept {}
  /// This part goes into core files of the application from now on.
  virtual void dump(std::uint64_t offset, std::uint64_t bytes) noexcept = 0;
};

/// What the pages are made of. In the order of the words of the option QUIRE_POOL, and of quire_pool.
enum class kind : std::uint8_t {
  memfd,  ///< an anonymous shared memory object, mapped twice
  file,   ///< a regular file, mapped twice (ParADE: file mapping)
  posix,  ///< a POSIX shared memory object, mapped twice
  sysv,   ///< System V segments, attached twice (ParADE: System V shared memory)
  mdup,   ///< shared anonymous memory whose page-table range is duplicated (ParADE: mdup())
  fork,   ///< the engine in a process of its own, the same addresses in both (ParADE: fork()); for whole jobs
};

/// The settings of a job, the same for all its pools.
struct settings {
  kind which = kind::memfd;
  std::string directory;      ///< file: where; empty: $TMPDIR, or /var/tmp
  bool written = false;       ///< file: filled with zeros by write(), not only given its length by ftruncate()
  std::uint64_t segment = 0;  ///< sysv: most bytes of a segment; 0: what the system allows (kernel.shmmax)
  os::address_space* application = &os::this_process();  ///< whose the application view is; fork: another process
  int host_file = -1;           ///< memfd: the memory that the nodes of a host map, in place of one of the pool's own
  std::uint64_t host_base = 0;  ///< the address of its first byte
  bool code = false;  ///< threads run what is in the pool, and none writes it: in place of read-write, the application
                      ///< view is read-execute
  bool runs = false;  ///< threads run what they have written: it is read-write-execute
};

/// Application views beside the first one: the n-th lies n * stride bytes behind that.
struct fine_views {
  unsigned count = 0;
  std::uint64_t stride = 0;
};

/// Makes a pool of `bytes` (whole pages) whose application view stands at `address` exactly, which the caller has
/// reserved. `accessible`: the application view's initial protection is read-write (userfaultfd keeps pages away) or
/// none (mprotect); so are fine views, whose addresses the caller has reserved, too. No view goes into a core file
/// before somebody asks for it (dump()). Application thread. A crash, kill -9 included, leaves nothing. QUIRE_SYSTEM,
/// QUIRE_NO_MEMORY, QUIRE_UNSUPPORTED (fork, in a process that is not split, or for code; code where the file system of
/// the pages is mounted noexec; private copies with fine views, or of a pool that has none); the reason is logged. A
/// pool with private copies has a descriptor to the end. With `host_file` the frames are those that pools of other
/// processes have at the same address; leave() gives them back for all, the end of a pool does not.
[[nodiscard]] base::result<std::unique_ptr<pool>> make(const settings& how, std::uint64_t address, std::uint64_t bytes,
                                                       bool accessible, const fine_views& fine = {},
                                                       view_kind view = view_kind::shared);

/// Whether application views of such pools can have private copies.
[[nodiscard]] bool takes_private_copies(kind which) noexcept;

/// Whether userfaultfd can watch such a pool: its pages must be the kernel's shared memory, and not System V's.
[[nodiscard]] bool takes_userfault(const settings& how) noexcept;

/// What pools of that kind say when no frame can be had.
[[nodiscard]] const char* when_full(kind which) noexcept;

/// What is taken unless somebody asks for another, for pools of up to `bytes`: memfd, or mdup, which has no private
/// copies, where files may not be so large (ulimit -f).
[[nodiscard]] kind usual(std::uint64_t bytes) noexcept;

/// The word of the option: "memfd", "file", ...
[[nodiscard]] const char* name_of(kind which) noexcept;

}  // namespace quire::pool
