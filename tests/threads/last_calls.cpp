// SPDX-License-Identifier: BSD-3-Clause
// The end of a program whose threads still work: destructors and handlers hand them new memory and their own local
// variables, and threads of any node have registered handlers. A number says how the program ends.
#include <stdlib.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

struct work {
  const char* text;
  std::atomic<std::size_t>* answer;
};
std::atomic<work*> g_work{nullptr};
std::vector<std::thread> g_threads;

/// In a thread: the length of each text, until there is none.
void answer_all() {
  for (;;) {
    work* const now = g_work.load();
    if (now == nullptr) {
      std::this_thread::yield();
      continue;
    }
    g_work = nullptr;
    const bool last = now->text == nullptr;
    *now->answer = last ? 1 : std::strlen(now->text) + 1;
    if (last) return;
  }
}

std::size_t ask(const char* text) {
  std::atomic<std::size_t> answer{0};  // on the stack of who asks
  work asked{text, &answer};
  g_work = &asked;
  while (answer == 0) std::this_thread::yield();
  return answer - 1;
}

void ask_of(const char* who, std::size_t length) {
  const std::string text(length, 'x');
  std::printf("%s: %zu\n", who, ask(text.c_str()));
}

struct object {
  ~object() {
    ask_of("destructor of an object", 100);
    (void)ask(nullptr);
    for (auto& t : g_threads) t.join();
  }
} g_object;

[[gnu::destructor]] void last_function() { std::printf("destructor function: %zu\n", std::string(50, 'y').size()); }

}  // namespace

int main(int count, char** arguments) {
  const int how = count > 1 ? std::atoi(arguments[1]) : 0;
  std::atexit([] { ask_of("atexit", 10); });
  for (int i = 0; i < 2; ++i) {
    std::thread([i] {
      on_exit(
          [](int status, void* text) {
            std::printf("on_exit, status %d: ", status);
            ask_of(static_cast<const char*>(text), 20);
          },
          const_cast<char*>(i == 0 ? "first" : "second"));
    }).join();
  }
  for (int i = 0; i < 3; ++i) {
    g_threads.emplace_back([i] {
      if (i == 2) answer_all();
    });
  }
  ask_of("main", 5);
  if (how == 1) std::exit(7);
  if (how == 2) {
    std::thread([] { std::exit(8); }).detach();
    for (;;) std::this_thread::yield();
  }
  return 6;
}
