// SPDX-License-Identifier: BSD-3-Clause
// How an access without permission is noticed, and how permission is given and taken: one folder a body. Addresses are
// those of the application view; lengths are multiples of the page. All calls but attach() run in fault context on the
// driver's thread: no heap, no lock. What cannot be done comes back as an errno, and is decided by the engine.
#pragma once

#include <signal.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.hpp"
#include "model/ids.hpp"
#include "os/address_space.hpp"
#include "os/signals_held.hpp"

namespace quire::detect {

using model::access;

/// A fault as the kernel tells it.
struct fault_event {
  std::uint64_t address = 0;
  bool write = false;
};

[[nodiscard]] inline std::uint64_t number_of(const std::byte* address) noexcept {
  return reinterpret_cast<std::uint64_t>(address);
}

/// Pages that lie together.
struct page_range {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  friend bool operator==(const page_range&, const page_range&) noexcept = default;
};

class detector {
 public:
  virtual ~detector() = default;
  /// Starts to watch a range, in which nothing is permitted. `private_copies`: what threads write goes to copies that
  /// only this mapping has (pool::view_kind); protect() to read keeps a page's copy, to none drops it. Application
  /// thread, before the range is used.
  [[nodiscard]] virtual int attach(std::byte* address, std::uint64_t bytes, bool private_copies = false) noexcept = 0;
  /// Ends that: nobody may access the range any more. Threads that the kernel holds there try again.
  virtual void detach(std::byte* address, std::uint64_t bytes) noexcept = 0;
  /// Raises the permission of a range from `from` to `to` (read or write); frames exist, else EFAULT. Wakes kernel
  /// waiters.
  [[nodiscard]] virtual int permit(std::byte* address, std::size_t bytes, access from, access to) noexcept = 0;
  /// Lowers the permission of a range from `from` to `to` (none or read). On return no thread uses the old one.
  [[nodiscard]] virtual int protect(std::byte* address, std::size_t bytes, access from, access to) noexcept = 0;
  /// Lets threads that the kernel holds try again (thread mode); nothing elsewhere.
  virtual void wake(std::byte* address, std::size_t bytes) noexcept = 0;
  /// Descriptor to read faults from, -1 where the faulting thread comes by itself.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  [[nodiscard]] virtual bool next(fault_event& event) noexcept = 0;
  /// Whether the application view is mapped read-write from the start (the detector keeps pages away).
  [[nodiscard]] virtual bool accessible() const noexcept = 0;
  [[nodiscard]] virtual const char* name() const noexcept = 0;

  // Writes that are found instead of being noticed as faults.

  /// Whether that is how this detector learns of writes. If so: `read` and `write` are one permission, under which
  /// threads may write; permit(none -> ...) begins with "not written", permit(read -> write) does nothing,
  /// protect(write -> read) forgets what was written, and so does protect(... -> none): to lose no write of another
  /// thread, take the permission away first and then compare the content with a copy. A page that is permitted can
  /// fault (the kernel has taken it away): it is to be permitted again from `none`, and counts as written.
  [[nodiscard]] virtual bool scans() const noexcept { return false; }
  /// Which permitted pages of [from, end) were written since they were permitted or last collected, by threads or by
  /// the kernel on their behalf (read(2)). Each page is looked at and begins anew in one step. A write that was made
  /// before the call is told; one made meanwhile is told now or by the next call, and if only now, then it is in the
  /// page's content when the call returns.
  /// `found` is filled from its start with `count` ranges, upwards and not touching each other. When it is full before
  /// all was looked at, `from` stands before `end`, and the call is to be repeated:
  ///   for (std::byte* at = begin; at != end; use(found.first(count)))
  ///     if (const int error = guard.collect(at, end, found, count); error != 0) ...
  /// The range lies within one that was attached. Pages without permission are never told, whatever the kernel has of
  /// them; pages that the kernel has taken away on its own (by swapping, or into a huge page) are told once if they may
  /// have been written before. The calls that change permissions of the same pages do not run at the same time.
  /// Driver's thread, fault context: one system call or more, no heap, 2 KiB of stack. 0; ENOTSUP where scans() is
  /// false; EINVAL for an empty `found`; other errno. After an error `count` and `from` are right for what was looked
  /// at before; what follows may have been written.
  [[nodiscard]] virtual int collect(std::byte*& from, std::byte* end, std::span<page_range> found,
                                    std::size_t& count) noexcept {
    (void)from, (void)end, (void)found;
    count = 0;
    return ENOTSUP;
  }
};

enum class kind {
  userfault_inline,
  userfault_thread,
  segv,
  userfault_scan,
  segv_code,       ///< as segv, of pages that threads run: whoever may read may execute, and nobody writes
  segv_runs,       ///< the same of pages that threads write and run
  userfault_code,  ///< both as userfault_inline, for which the mapping's protection matters before Linux 6.4
  userfault_runs,
};

/// Why kind::userfault_inline cannot be had for the pages of `where`, in words; empty if it can. Application thread.
[[nodiscard]] std::string why_no_userfault(os::address_space& where = os::this_process());
/// Opens a detector for the pages of `where`; a status and a line that says why when this machine cannot. `quiet`
/// leaves the line out.
[[nodiscard]] base::result<std::unique_ptr<detector>> open(kind which, bool quiet,
                                                           os::address_space& where = os::this_process());

/// What a fault handler does with an address: true if it was a shared one and the access may be tried again.
using fault_handler = bool (*)(std::uint64_t address, bool write) noexcept;

/// Asked after the handler has not taken a fault: is it one of shared memory that nobody has any more? Then the thread
/// gets SIGBUS.
struct lost_unit {
  const char* why = nullptr;  ///< for people; null: it is not
  bool beyond = false;        ///< BUS_ADRERR: there is no such thing; else BUS_OBJERR
  bool closed = false;        ///< the thread gets SIGSEGV, SEGV_ACCERR: it may not access the page
};
using lost_check = lost_unit (*)() noexcept;

/// Whether an address is shared: threads may have a stack there.
using shared_check = bool (*)(std::uint64_t address) noexcept;

/// Whether threads may run what lies at an address, as far as shared memory goes; a line if not. Asked of what the
/// processor could not fetch: elsewhere a page may be readable, and the fault would come again for ever.
using code_check = bool (*)(std::uint64_t address) noexcept;

/// Routes SIGSEGV and SIGBUS to `handler`. What it does not take goes to the handler that was there before, or
/// ends the process by the signal's own default (with its core). The calling thread gets an alternate stack, so that a
/// stack in shared memory can fault; threads get theirs by prepare_thread(), or with their first fault.
[[nodiscard]] base::status install_signals(fault_handler handler, lost_check is_lost = nullptr,
                                           shared_check is_shared = nullptr, code_check may_run = nullptr) noexcept;
/// While they are installed: gives the calling thread, which has just started, its alternate stack. Its first fault may
/// come on a stack in shared memory, where the kernel could not put a signal's frame.
void prepare_thread() noexcept;
/// While they are installed: sigaction(2) of the application for one of the two signals changes what is called after
/// `handler`. False if they are not.
[[nodiscard]] bool chain_signal(int signal, const struct sigaction* now, struct sigaction* before) noexcept;
/// Whether the application has installed a handler of SIGSEGV so.
[[nodiscard]] bool handles_bad_accesses() noexcept;

/// While it lives, signals of the application are handled that came during the fault that this thread is in, though a
/// fault keeps them waiting else. For a thread that sleeps; does nothing outside of faults.
class signals_let_in {
 public:
  signals_let_in() noexcept;
  ~signals_let_in();
  signals_let_in(const signals_let_in&) = delete;
  signals_let_in& operator=(const signals_let_in&) = delete;

 private:
  bool active_;
  os::signal_bits before_ = 0;
};
/// Puts the earlier handlers back, if nobody has replaced ours.
void remove_signals() noexcept;
/// In place of remove_signals(), for a process that is about to exit: a thread that accesses [base, base + bytes),
/// which lose their memory here, stays in its fault until the process has ended. Not the calling thread, for which they
/// are wrong addresses.
void hold_threads(std::uint64_t base, std::uint64_t bytes) noexcept;

}  // namespace quire::detect
