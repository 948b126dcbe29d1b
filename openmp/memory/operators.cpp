// SPDX-License-Identifier: BSD-3-Clause
// What allocators define, too, past malloc(3). As in libstdc++ all come down to one that makes and one that drops, with
// and without an alignment, which a program may have replaced.
#include "openmp/memory/operators.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <quire/system.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <new>

#include "openmp/memory/heap.hpp"
#include "openmp/memory/shared_pages.hpp"
#include "openmp/sites/known_libraries.hpp"

namespace quire::openmp {

constinit programs_operators g_programs{};

namespace {

constexpr std::size_t usual_alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
std::size_t number(std::align_val_t alignment) noexcept { return static_cast<std::size_t>(alignment); }

void* own_make(std::size_t bytes, std::size_t alignment, const void* caller) {
  for (;;) {
    if (void* const at = allocate_for(caller, bytes != 0 ? bytes : 1, alignment); at != nullptr) return at;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* make(std::size_t bytes, const void* caller) {
  return g_programs.make != nullptr ? g_programs.make(bytes) : own_make(bytes, usual_alignment, caller);
}
void* make(std::size_t bytes, std::align_val_t alignment, const void* caller) {
  return g_programs.make_aligned != nullptr ? g_programs.make_aligned(bytes, number(alignment))
                                            : own_make(bytes, number(alignment), caller);
}
template <class... How>
void* make_or_null(How... how) noexcept {
  try {
    return make(how...);
  } catch (...) {
    return nullptr;
  }
}
void drop(void* at) noexcept { g_programs.drop != nullptr ? g_programs.drop(at) : give_back(at); }
void drop(void* at, std::align_val_t alignment) noexcept {
  g_programs.drop_aligned != nullptr ? g_programs.drop_aligned(at, number(alignment)) : give_back(at);
}

/// Before a block that Quire has made while the program has operators of its own: libstdc++ gives back some of Quire's,
/// and makes some that Quire gives back.
struct mark {
  std::uintptr_t sign;
  void* block;
};
static_assert(sizeof(mark) == usual_alignment);
std::uintptr_t sign_of(const void* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) * 0x9e3779b97f4a7c15u ^ reinterpret_cast<std::uintptr_t>(&g_programs);
}

void* make_marked(std::size_t bytes, std::size_t alignment, const void* caller) {
  const std::size_t before = alignment > sizeof(mark) ? alignment : sizeof(mark);
  if (bytes > SIZE_MAX - before) throw std::bad_alloc();
  void* const block = own_make(bytes + before, alignment, caller);
  auto* const at = static_cast<std::byte*>(block) + before;
  const mark m{sign_of(at), block};
  memcpy(at - sizeof m, &m, sizeof m);
  return at;
}
/// What stands before a block, if that belongs to it: the page before may be anybody's, and closed.
bool read_mark(const void* at, mark& m) noexcept {
  const auto* const from = static_cast<const std::byte*>(at) - sizeof m;
  if (begins_page(at) && in_heap(at)) {
    void* first = nullptr;
    std::uint64_t bytes = 0;
    int taken = 0;
    if (quire_allocation_around(at, &first, &bytes, &taken) != QUIRE_OK || first == at) return false;
    int closed = 0;  // the program's own operator may have put a page before it that nobody may access
    if (quire_pages_closed(from, sizeof m, &closed) != QUIRE_OK || closed != 0) return false;
  } else if (begins_page(at)) {
    const iovec here{&m, sizeof m}, there{const_cast<std::byte*>(from), sizeof m};
    const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got >= 0 || errno == EFAULT) return got == sizeof m;
  }
  memcpy(&m, from, sizeof m);
  return true;
}

/// False: somebody else has made it.
bool drop_marked(void* at) noexcept {
  if (at == nullptr) return true;
  mark m;
  const int saved = errno;
  const bool marked = read_mark(at, m) && m.sign == sign_of(at);
  errno = saved;
  if (!marked) return false;
  memset(static_cast<std::byte*>(at) - sizeof m, 0, sizeof m);
  give_back(m.block);
  return true;
}

void* marked_make(std::size_t n) { return make_marked(n, usual_alignment, QUIRE_CALLER); }
void* marked_make_aligned(std::size_t n, std::size_t a) { return make_marked(n, a, QUIRE_CALLER); }
void* marked_make_or_null(std::size_t n) noexcept {
  try {
    return make_marked(n, usual_alignment, QUIRE_CALLER);
  } catch (...) {
    return nullptr;
  }
}
void marked_drop(void* at) noexcept {
  if (!drop_marked(at)) drop(at);
}
void marked_drop_aligned(void* at, std::size_t a) noexcept {
  if (!drop_marked(at)) drop(at, std::align_val_t{a});
}
void marked_drop_sized_aligned(void* at, std::size_t, std::size_t a) noexcept { marked_drop_aligned(at, a); }

template <class Function>
const void* address(Function* of) noexcept {
  return reinterpret_cast<const void*>(of);
}

bool g_starts = false;

/// What libstdc++ makes for Quire: while it starts, and later on threads whose stacks are private. The program's
/// operator may use static data, on which a thread that serves others must not fault.
bool is_for_quire() noexcept { return is_heap_open() ? !in_heap(__builtin_frame_address(0)) : g_starts; }

/// Operators that make, by their names in the order of their numbers, and those that libstdc++ would find.
constexpr const char* makers[] = {"_Znwm",
                                  "_Znam",
                                  "_ZnwmSt11align_val_t",
                                  "_ZnamSt11align_val_t",
                                  "_ZnwmRKSt9nothrow_t",
                                  "_ZnamRKSt9nothrow_t",
                                  "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                  "_ZnamSt11align_val_tRKSt9nothrow_t"};
constexpr std::size_t all_makers = std::size(makers);
const void* g_found[all_makers] = {};

template <std::size_t number, class... More>
void* make_for_either(std::size_t bytes, More... more) {
  if (is_for_quire()) {
    if constexpr (number < 2) return marked_make(bytes);
    if constexpr (number == 2 || number == 3) return marked_make_aligned(bytes, more...);
    if constexpr (number == 4 || number == 5) return marked_make_or_null(bytes);
  }
  return reinterpret_cast<void* (*)(std::size_t, More...)>(reinterpret_cast<std::uintptr_t>(g_found[number]))(bytes,
                                                                                                              more...);
}

/// Null: it is none of them, or nobody has it.
const void* maker_for_either(const char* name) noexcept {
  const void* const all[all_makers] = {address(&make_for_either<0>),
                                       address(&make_for_either<1>),
                                       address(&make_for_either<2, std::size_t>),
                                       address(&make_for_either<3, std::size_t>),
                                       address(&make_for_either<4, const std::nothrow_t*>),
                                       address(&make_for_either<5, const std::nothrow_t*>),
                                       address(&make_for_either<6, std::size_t, const std::nothrow_t*>),
                                       address(&make_for_either<7, std::size_t, const std::nothrow_t*>)};
  for (std::size_t i = 0; i < all_makers; ++i) {
    if (strcmp(name, makers[i]) != 0) continue;
    g_found[i] = ::dlsym(RTLD_DEFAULT, name);
    return g_found[i] != nullptr ? all[i] : nullptr;
  }
  return nullptr;
}

}  // namespace

void note_start(bool begins) noexcept { g_starts = begins; }

const void* marked_operator(const char* name, bool of_quire) noexcept {
  const bool drops = sites::begins(name, "_ZdlPv") || sites::begins(name, "_ZdaPv");
  const bool makes = sites::begins(name, "_Znwm") || sites::begins(name, "_Znam");
  if (!drops && !makes) return nullptr;
  if (makes && !of_quire) return maker_for_either(name);
  const char* const rest = name + (drops ? 6 : 5);
  if (drops && sites::begins(rest, "St11align_val_t")) return address(&marked_drop_aligned);
  if (drops && sites::begins(rest, "mSt11align_val_t")) return address(&marked_drop_sized_aligned);
  if (drops) return address(&marked_drop);  // what else there is does not matter
  if (*rest == 0) return address(&marked_make);
  if (strcmp(rest, "RKSt9nothrow_t") == 0) return address(&marked_make_or_null);
  return strcmp(rest, "St11align_val_t") == 0 ? address(&marked_make_aligned) : nullptr;
}

}  // namespace quire::openmp

using namespace quire::openmp;

#define QUIRE_OPERATORS(name)                                                                                      \
  void* operator new name(std::size_t n) { return make(n, QUIRE_CALLER); }                                         \
  void* operator new name(std::size_t n, std::align_val_t a) { return make(n, a, QUIRE_CALLER); }                  \
  void* operator new name(std::size_t n, const std::nothrow_t&) noexcept { return make_or_null(n, QUIRE_CALLER); } \
  void* operator new name(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {                     \
    return make_or_null(n, a, QUIRE_CALLER);                                                                       \
  }                                                                                                                \
  void operator delete name(void* at) noexcept { drop(at); }                                                       \
  void operator delete name(void* at, std::size_t) noexcept { drop(at); }                                          \
  void operator delete name(void* at, std::align_val_t a) noexcept { drop(at, a); }                                \
  void operator delete name(void* at, std::size_t, std::align_val_t a) noexcept { drop(at, a); }                   \
  void operator delete name(void* at, const std::nothrow_t&) noexcept { drop(at); }                                \
  void operator delete name(void* at, std::align_val_t a, const std::nothrow_t&) noexcept { drop(at, a); }
QUIRE_OPERATORS()
QUIRE_OPERATORS([])
