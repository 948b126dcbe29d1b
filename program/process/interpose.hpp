// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <atomic>

/// A function of libc that is defined here too, by its name.
#define QUIRE_LIBC extern "C" __attribute__((visibility("default")))

namespace quire::program {

/// The function that the one here stands in front of.
template <class Function>
[[nodiscard]] Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// The same, without the dynamic linker's lock, which a thread may have while it waits for Quire: destructors of a
/// library run under it. Null: before the program's constructors, or of functions that libc chooses by the processor.
[[nodiscard]] void* next_without_lock(const char* name) noexcept;

/// The same, looked up once. A function that is interposed has nothing of C++ that is made at its first call: the guard
/// of that may lock, and so call the function again (libc++abi does). Two threads find the same.
class kept_next {
 public:
  constexpr explicit kept_next(const char* name) noexcept : name_(name) {}
  [[nodiscard]] void* get() noexcept {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) [[unlikely]] {
      found = next_without_lock(name_);
      if (found == nullptr) found = ::dlsym(RTLD_NEXT, name_);
      found_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  const char* name_;
  std::atomic<void*> found_{nullptr};
};

}  // namespace quire::program

/// By its name, and with a type where no header has one.
#define QUIRE_NEXT_AS(type, name)                              \
  ([]() noexcept {                                             \
    static constinit ::quire::program::kept_next g_next{name}; \
    return reinterpret_cast<type*>(g_next.get());              \
  }())
#define QUIRE_NEXT(function) QUIRE_NEXT_AS(decltype(::function), #function)
