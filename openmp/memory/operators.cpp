// SPDX-License-Identifier: BSD-3-Clause
// new and delete of C++, which other allocators define, too, past malloc(3). What a program defines itself comes first.
#include <cstddef>
#include <new>

#include "openmp/memory/heap.hpp"

using namespace quire::openmp;

namespace {

void* make_or_throw(std::size_t bytes, std::size_t alignment, const void* caller) {
  for (;;) {
    if (void* const at = allocate_for(caller, bytes != 0 ? bytes : 1, alignment); at != nullptr) return at;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* make_or_null(std::size_t bytes, std::size_t alignment, const void* caller) noexcept {
  try {
    return make_or_throw(bytes, alignment, caller);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

constexpr std::size_t usual_alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
std::size_t number(std::align_val_t alignment) noexcept { return static_cast<std::size_t>(alignment); }

}  // namespace

#define QUIRE_OPERATORS(name)                                                                                      \
  void* operator new name(std::size_t n) { return make_or_throw(n, usual_alignment, QUIRE_CALLER); }               \
  void* operator new name(std::size_t n, std::align_val_t a) { return make_or_throw(n, number(a), QUIRE_CALLER); } \
  void* operator new name(std::size_t n, const std::nothrow_t&) noexcept {                                         \
    return make_or_null(n, usual_alignment, QUIRE_CALLER);                                                         \
  }                                                                                                                \
  void* operator new name(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {                     \
    return make_or_null(n, number(a), QUIRE_CALLER);                                                               \
  }                                                                                                                \
  void operator delete name(void* at) noexcept { give_back(at); }                                                  \
  void operator delete name(void* at, std::size_t) noexcept { give_back(at); }                                     \
  void operator delete name(void* at, std::align_val_t) noexcept { give_back(at); }                                \
  void operator delete name(void* at, std::size_t, std::align_val_t) noexcept { give_back(at); }                   \
  void operator delete name(void* at, const std::nothrow_t&) noexcept { give_back(at); }                           \
  void operator delete name(void* at, std::align_val_t, const std::nothrow_t&) noexcept { give_back(at); }
QUIRE_OPERATORS()
QUIRE_OPERATORS([])
