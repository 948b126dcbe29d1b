// SPDX-License-Identifier: BSD-3-Clause
// What allocators define, too, past malloc(3). As in libstdc++ all come down to one that makes and one that drops, with
// and without an alignment, which a program may have replaced.
#include "program/posix/heap/operators.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <quire/system.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <new>

#include "program/posix/heap/heap.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/sites/known_libraries.hpp"

namespace quire::program {

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

enum class form : std::uint8_t { one, array };

/// What Quire's operators come down to, as those of libstdc++: an array is one of its kind, if the program has none.
template <form of>
void* make(std::size_t bytes, const void* caller) {
  if (of == form::array && g_programs.make_array != nullptr) return g_programs.make_array(bytes);
  return g_programs.make != nullptr ? g_programs.make(bytes) : own_make(bytes, usual_alignment, caller);
}
template <form of>
void* make(std::size_t bytes, std::align_val_t a, const void* caller) {
  if (of == form::array && g_programs.make_aligned_array != nullptr)
    return g_programs.make_aligned_array(bytes, number(a));
  return g_programs.make_aligned != nullptr ? g_programs.make_aligned(bytes, number(a))
                                            : own_make(bytes, number(a), caller);
}
template <form of, class... How>
void* make_or_null(How... how) noexcept {
  try {
    return make<of>(how...);
  } catch (...) {
    return nullptr;
  }
}
template <form of>
void drop(void* at) noexcept {
  if (of == form::array && g_programs.drop_array != nullptr) return g_programs.drop_array(at);
  g_programs.drop != nullptr ? g_programs.drop(at) : give_back(at);
}
template <form of>
void drop(void* at, std::align_val_t a) noexcept {
  if (of == form::array && g_programs.drop_aligned_array != nullptr)
    return g_programs.drop_aligned_array(at, number(a));
  g_programs.drop_aligned != nullptr ? g_programs.drop_aligned(at, number(a)) : give_back(at);
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
template <class... How>
void* marked_or_null(std::size_t n, How... how) noexcept {
  try {
    return make_marked(n, how...);
  } catch (...) {
    return nullptr;
  }
}
void* marked_make_or_null(std::size_t n, const std::nothrow_t*) noexcept {
  return marked_or_null(n, usual_alignment, QUIRE_CALLER);
}
void* marked_make_aligned_or_null(std::size_t n, std::size_t a, const std::nothrow_t*) noexcept {
  return marked_or_null(n, a, QUIRE_CALLER);
}

bool g_no_program = false;

/// What libstdc++ makes for Quire: while no thread runs the program, and else on threads whose stacks are private. The
/// program's operator may use static data, on which a thread that serves others must not fault.
bool is_for_quire() noexcept { return is_heap_open() ? !in_heap(__builtin_frame_address(0)) : g_no_program; }

template <class Function>
const void* address(Function* of) noexcept {
  return reinterpret_cast<const void*>(of);
}

/// What libstdc++ would find, in the order of the tables below.
const void *g_makers[8] = {}, *g_droppers[12] = {};
template <class Function>
Function* as_function(const void* at) noexcept {
  return reinterpret_cast<Function*>(reinterpret_cast<std::uintptr_t>(at));
}

using nothrow = const std::nothrow_t*;
using alignment = std::size_t;
using size = std::size_t;

/// An operator, by its mangled name, and what stands in for it.
struct stand_in {
  const char* name;
  const void *for_quire, *for_either;
};

template <unsigned number, auto marked, class... More>
void* make_for_either(std::size_t bytes, More... more) {
  return is_for_quire() ? marked(bytes, more...)
                        : as_function<void*(std::size_t, More...)>(g_makers[number])(bytes, more...);
}
/// Each block is dropped as it was made, or by the very operator that was called: the program's may differ.
template <unsigned number, class... More>
void drop_for_either(void* at, More... more) noexcept {
  if (!drop_marked(at)) as_function<void(void*, More...)>(g_droppers[number])(at, more...);
}

template <unsigned number, auto marked, class... More>
stand_in maker(const char* name) noexcept {
  return {name, address(marked), address(&make_for_either<number, marked, More...>)};
}
template <unsigned number, class... More>
stand_in dropper(const char* name) noexcept {
  const void* const at = address(&drop_for_either<number, More...>);
  return {name, at, at};
}

/// Null: it is none of them, or nobody has it.
template <std::size_t count>
const void* find_in(const stand_in (&all)[count], const void* (&found)[count], const char* name,
                    bool of_quire) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (strcmp(name, all[i].name) != 0) continue;
    found[i] = ::dlsym(RTLD_DEFAULT, name);
    return found[i] == nullptr ? nullptr : of_quire ? all[i].for_quire : all[i].for_either;
  }
  return nullptr;
}

}  // namespace

void note_no_program(bool begins) noexcept { g_no_program = begins; }

const void* marked_operator(const char* name, bool of_quire) noexcept {
  const stand_in makers[] = {
      maker<0, marked_make>("_Znwm"),
      maker<1, marked_make>("_Znam"),
      maker<2, marked_make_aligned, alignment>("_ZnwmSt11align_val_t"),
      maker<3, marked_make_aligned, alignment>("_ZnamSt11align_val_t"),
      maker<4, marked_make_or_null, nothrow>("_ZnwmRKSt9nothrow_t"),
      maker<5, marked_make_or_null, nothrow>("_ZnamRKSt9nothrow_t"),
      maker<6, marked_make_aligned_or_null, alignment, nothrow>("_ZnwmSt11align_val_tRKSt9nothrow_t"),
      maker<7, marked_make_aligned_or_null, alignment, nothrow>("_ZnamSt11align_val_tRKSt9nothrow_t")};
  const stand_in droppers[] = {dropper<0>("_ZdlPv"),
                               dropper<1>("_ZdaPv"),
                               dropper<2, size>("_ZdlPvm"),
                               dropper<3, size>("_ZdaPvm"),
                               dropper<4, alignment>("_ZdlPvSt11align_val_t"),
                               dropper<5, alignment>("_ZdaPvSt11align_val_t"),
                               dropper<6, size, alignment>("_ZdlPvmSt11align_val_t"),
                               dropper<7, size, alignment>("_ZdaPvmSt11align_val_t"),
                               dropper<8, nothrow>("_ZdlPvRKSt9nothrow_t"),
                               dropper<9, nothrow>("_ZdaPvRKSt9nothrow_t"),
                               dropper<10, alignment, nothrow>("_ZdlPvSt11align_val_tRKSt9nothrow_t"),
                               dropper<11, alignment, nothrow>("_ZdaPvSt11align_val_tRKSt9nothrow_t")};
  const void* const made = find_in(makers, g_makers, name, of_quire);
  return made != nullptr ? made : find_in(droppers, g_droppers, name, of_quire);
}

}  // namespace quire::program

using namespace quire::program;

#define QUIRE_OPERATORS(name, of)                                                                                      \
  void* operator new name(std::size_t n) { return make<of>(n, QUIRE_CALLER); }                                         \
  void* operator new name(std::size_t n, std::align_val_t a) { return make<of>(n, a, QUIRE_CALLER); }                  \
  void* operator new name(std::size_t n, const std::nothrow_t&) noexcept { return make_or_null<of>(n, QUIRE_CALLER); } \
  void* operator new name(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {                         \
    return make_or_null<of>(n, a, QUIRE_CALLER);                                                                       \
  }                                                                                                                    \
  void operator delete name(void* at) noexcept { drop<of>(at); }                                                       \
  void operator delete name(void* at, std::size_t) noexcept { drop<of>(at); }                                          \
  void operator delete name(void* at, std::align_val_t a) noexcept { drop<of>(at, a); }                                \
  void operator delete name(void* at, std::size_t, std::align_val_t a) noexcept { drop<of>(at, a); }                   \
  void operator delete name(void* at, const std::nothrow_t&) noexcept { drop<of>(at); }                                \
  void operator delete name(void* at, std::align_val_t a, const std::nothrow_t&) noexcept { drop<of>(at, a); }
QUIRE_OPERATORS(, form::one)
QUIRE_OPERATORS([], form::array)
