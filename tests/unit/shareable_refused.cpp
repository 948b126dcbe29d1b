// SPDX-License-Identifier: BSD-3-Clause
// What must not compile: each line with a comment that begins with "->" is an error that says so. shareable_refused.py
// counts them.
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <quire/memory.hpp>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct guarded {
  int value;
  std::recursive_mutex guard;
};
struct deep {
  char name[40];
  guarded inner;
};
struct shape {
  virtual ~shape() = default;
};
struct named {
  std::pair<int, std::string> name;
};
using texts = std::map<int, std::string, std::less<>, quire::allocator<std::pair<const int, std::string>>>;
using lines = std::vector<std::string, quire::allocator<std::string>>;
struct refused_by_hand {};

}  // namespace

template <>
inline constexpr bool quire::is_shareable<refused_by_hand> = false;

void refused() {
  (void)quire::new_object<std::mutex>();                          // -> use quire::mutex
  (void)quire::new_object<guarded>();                             // -> use quire::mutex
  (void)quire::new_object<deep>();                                // -> use quire::mutex
  (void)quire::new_object<std::shared_mutex>();                   // -> use quire::shared_mutex
  (void)quire::new_object<std::condition_variable>();             // -> use quire::condition_variable
  (void)quire::new_object<std::thread>();                         // -> use quire::thread
  (void)quire::new_object<std::vector<int>>();                    // -> use std::vector<T, quire::allocator<T>>
  (void)quire::new_object<std::map<int, int>>();                  // -> use std::vector<T, quire::allocator<T>>
  (void)quire::new_object<named>();                               // -> use std::vector<T, quire::allocator<T>>
  (void)quire::new_object<std::unique_ptr<int>>();                // -> use a pointer of quire::new_object()
  (void)quire::new_object<std::shared_ptr<int>>();                // -> use a pointer of quire::new_object()
  (void)quire::new_object<std::function<void()>>();               // -> use plain data
  (void)quire::new_object<shape>();                               // -> use plain data
  (void)quire::new_object<refused_by_hand>();                     // -> quire::is_shareable is false
  (void)quire::make_shared_array<std::recursive_timed_mutex>(3);  // -> use quire::mutex
  (void)quire::allocator<std::timed_mutex>{}.allocate(3);         // -> use quire::mutex
  texts{}.emplace(1, "one");                                      // -> use std::vector<T, quire::allocator<T>>
}
