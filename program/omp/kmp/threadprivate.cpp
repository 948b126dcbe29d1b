// SPDX-License-Identifier: BSD-3-Clause
// Threadprivate variables where the compiler asks for them by calls (clang: -fnoopenmp-use-tls). The initial thread has
// the variable itself; others have copies in shared memory, so that any thread may use a pointer to one. A copy
// begins as the private_variable was when a thread first asked for it, or as the compiler's function makes it.
#include <quire/quire.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <unordered_map>

#include "program/job/shared_state.hpp"
#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/team.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/fail.hpp"
#include "program/process/private_memory.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

using construct_function = void* (*)(void* at);
using construct_array_function = void* (*)(void* at, std::size_t count);

/// In shared memory, in a list.
struct private_variable {
  const void* original;
  void* image;  ///< null: no thread has asked yet
  construct_function construct;
  construct_array_function construct_array;
  std::size_t count;  ///< of an array's elements
  private_variable* next;
};

void* allocate(std::size_t bytes) noexcept {
  void* at = nullptr;
  if (const quire_status why = quire_malloc(bytes, &at); why != QUIRE_OK)
    fail("no shared memory for a threadprivate private_variable", why);
  return at;
}

/// Under the lock of tables.
private_variable& variable_of(const void* original) noexcept {
  auto* v = static_cast<private_variable*>(shared().threadprivates);
  while (v != nullptr && v->original != original) v = v->next;
  if (v != nullptr) return *v;
  v = static_cast<private_variable*>(allocate(sizeof(private_variable)));
  *v = {original, nullptr, nullptr, nullptr, 0, static_cast<private_variable*>(shared().threadprivates)};
  shared().threadprivates = v;
  return *v;
}

private_variable known(void* original, std::size_t bytes) noexcept {
  lock(shared().names);
  private_variable& v = variable_of(original);
  if (v.image == nullptr) {
    v.image = allocate(bytes);
    std::memcpy(v.image, original, bytes);
  }
  const private_variable found = v;
  unlock(shared().names);
  return found;
}

void note(void* original, construct_function one, construct_array_function many, std::size_t count) noexcept {
  lock(shared().names);
  private_variable& v = variable_of(original);
  v.construct = one;
  v.construct_array = many;
  v.count = count;
  unlock(shared().names);
}

void* copy_of(void* original, std::size_t bytes) {
  const private_variable v = known(original, bytes);
  if (job().node == 0 && ::gettid() == ::getpid()) return original;
  void* const copy = allocate(bytes);
  if (v.construct == nullptr && v.construct_array == nullptr) std::memcpy(copy, v.image, bytes);
  if (v.construct != nullptr) v.construct(copy);
  if (v.construct_array != nullptr) v.construct_array(copy, v.count);
  return copy;
}

using table = std::unordered_map<const void*, void*, std::hash<const void*>, std::equal_to<>,
                                 private_allocator<std::pair<const void* const, void*>>>;
thread_local table* t_copies = nullptr;  ///< for as long as the thread lives

}  // namespace

/// The compiler's cache stays empty: it goes by numbers of threads.
QUIRE_KMP void* __kmpc_threadprivate_cached(source*, id, void* original, std::size_t bytes, void***) {
  if (t_copies == nullptr) t_copies = make_private<table>();
  if (const auto found = t_copies->find(original); found != t_copies->end()) return found->second;
  void* const copy = copy_of(original, bytes);
  t_copies->emplace(original, copy);
  return copy;
}
QUIRE_KMP void* __kmpc_threadprivate(source*, id, void* original, std::size_t bytes) {
  return __kmpc_threadprivate_cached(nullptr, 0, original, bytes, nullptr);
}
/// Copies are never destroyed: threads live as long as the job.
QUIRE_KMP void __kmpc_threadprivate_register(source*, void* original, construct_function construct,
                                             void* (*)(void*, void*), void (*)(void*)) {
  note(original, construct, nullptr, 0);
}
QUIRE_KMP void __kmpc_threadprivate_register_vec(source*, void* original, construct_array_function construct,
                                                 void* (*)(void*, void*, std::size_t), void* (*)(void*, std::size_t),
                                                 std::size_t count) {
  note(original, nullptr, construct, count);
}
