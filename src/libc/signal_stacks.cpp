// SPDX-License-Identifier: BSD-3-Clause
// sigaltstack(2): the kernel cannot put a signal's frame on a stack in shared memory, whose page may be elsewhere, and
// a thread without an alternate stack cannot fault on such a stack. So the kernel has a private one where the program
// gives a shared one or none, as large or larger. The program is told what it has given; its handlers run on that.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/copies.hpp"
#include "runtime/forward.hpp"
#include "detect/alternate_stack.hpp"
#include "os/memory.hpp"
#include "os/raw_call.hpp"

using namespace quire::api::calls;
namespace os = quire::os;

namespace {

constexpr std::size_t guard_bytes = os::page_bytes;

/// Of the calling thread.
struct known_stack {
  bool given = false;  ///< by the program, since the start of the job
  stack_t told{};
  char* own = nullptr;  ///< private memory in its place, where Quire's own stack is too small. A guard page lies below
  std::size_t own_bytes = 0;
};
thread_local constinit known_stack t_known __attribute__((tls_model("initial-exec"))) = {};

void free_own(char* stack, std::size_t bytes) noexcept {
  if (stack != nullptr) os::unmap(stack - guard_bytes, guard_bytes + bytes);
}

pthread_key_t g_at_thread_end;
bool g_has_key = false;
/// A key that is made early has its place in the thread itself: setting it allocates nothing.
[[gnu::constructor]] void make_key() noexcept {
  g_has_key = ::pthread_key_create(&g_at_thread_end, [](void*) {
                const stack_t none{nullptr, SS_DISABLE, 0};
                (void)os::raw_call(SYS_sigaltstack, reinterpret_cast<long>(&none), 0, 0);
                free_own(t_known.own, t_known.own_bytes);
                t_known.own = nullptr;
              }) == 0;
}

/// Null, and errno, if there is no memory.
char* make_own(std::size_t bytes) noexcept {
  int error = 0;
  auto* const start = static_cast<char*>(os::map_table(guard_bytes + bytes, error));
  if (start == nullptr) return errno = error, nullptr;
  (void)os::protect(start, guard_bytes, PROT_NONE);
  return start + guard_bytes;
}

bool is_in_shared_memory(const stack_t& of) noexcept {
  auto* const first = static_cast<const char*>(of.ss_sp);
  return is_shared(first) || (of.ss_size != 0 && is_shared(first + of.ss_size - 1));
}

/// What the kernel gets for what the program gives; false, and errno. `own`: memory that was made for it.
bool choose(const stack_t& wanted, stack_t& to, char*& own) noexcept {
  to = wanted;
  const bool none = (wanted.ss_flags & SS_DISABLE) != 0;
  if (!none && !is_in_shared_memory(wanted)) return true;
  if (!none && wanted.ss_size < static_cast<std::size_t>(MINSIGSTKSZ)) return errno = ENOMEM, false;
  const stack_t usual = quire::detect::given_alternate_stack();
  if (none || wanted.ss_size <= usual.ss_size) {
    if (usual.ss_size == 0) return none ? true : (errno = ENOMEM, false);
    to.ss_sp = usual.ss_sp;
    to.ss_size = usual.ss_size;
    to.ss_flags &= ~SS_DISABLE;
    return true;
  }
  to.ss_size = (wanted.ss_size + os::page_bytes - 1) / os::page_bytes * os::page_bytes;
  own = make_own(to.ss_size);
  to.ss_sp = own;
  return own != nullptr;
}

/// What the program has given, and whether the thread is on it.
stack_t tell(const stack_t& now) noexcept {
  if (!t_known.given) {
    const bool is_quires = now.ss_sp == quire::detect::given_alternate_stack().ss_sp;
    return is_quires ? stack_t{nullptr, SS_DISABLE, 0} : now;
  }
  stack_t told = t_known.told;
  if ((told.ss_flags & SS_DISABLE) == 0) told.ss_flags |= now.ss_flags & SS_ONSTACK;
  return told;
}

int exchange(row& of, const stack_t* wanted, stack_t* before) noexcept {
  stack_t now{}, to{};
  if (make<int>(of, static_cast<const stack_t*>(nullptr), both(&now)) != 0) return -1;
  const stack_t had = tell(now);
  if (wanted != nullptr) {
    const stack_t given = *wanted;
    char* own = nullptr;
    if (!choose(given, to, own)) return -1;
    if (make<int>(of, in(static_cast<const stack_t*>(&to)), static_cast<stack_t*>(nullptr)) != 0) {
      const int error = errno;
      free_own(own, to.ss_size);
      return errno = error, -1;
    }
    free_own(t_known.own, t_known.own_bytes);
    t_known = {true, given, own, to.ss_size};
    if ((given.ss_flags & SS_DISABLE) != 0) t_known.told = {nullptr, SS_DISABLE, 0};
    if (own != nullptr && g_has_key) (void)::pthread_setspecific(g_at_thread_end, own);
  }
  if (before != nullptr) *before = had;
  return 0;
}

}  // namespace

QUIRE_OWN(int, sigaltstack, (const stack_t* now, stack_t* before)) {
  const bool running = quire::api::current() != nullptr || quire::api::elsewhere() != nullptr;
  return running ? exchange(row_sigaltstack, now, before) : make<int>(row_sigaltstack, in(now), both(before));
}
