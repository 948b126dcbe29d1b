// SPDX-License-Identifier: BSD-3-Clause
// How a program with threads ends: exits.cpp WAY. On several nodes each of the three threads is on another one.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

std::atomic<int> g_here{0};

struct announcer {
  const char* what;
  ~announcer() { std::printf("destroyed: %s\n", what); }
};
announcer g_static{"a static object"};
void last() { std::printf("a handler of atexit\n"); }

void run_for_ever() {
  static std::vector<long> numbers(10'000);
  ++g_here;
  for (std::size_t i = 0;; i = (i + 1) % numbers.size()) __atomic_fetch_add(&numbers[i], 1, __ATOMIC_RELAXED);
}

template <class Body>
void on_threads(int count, Body body) {
  for (int i = 0; i < count; ++i) std::thread(body, i).detach();
  while (g_here < count) usleep(1000);
}

void exit_of_thread(int status) {
  on_threads(3, [status](int i) {
    if (i < 2) run_for_ever();
    while (g_here < 2) usleep(1000);
    static announcer mine{"a static object of a thread"};
    std::atexit(last);
    std::exit(status);
  });
}

void* tell_when_main_is_gone(void* main) {
  void* result = nullptr;
  pthread_join(*static_cast<pthread_t*>(main), &result);
  std::printf("main has left with %s\n", static_cast<const char*>(result));
  ++g_here;
  return nullptr;
}
void* count_up(void*) {
  usleep(20'000);
  ++g_here;
  return nullptr;
}

[[noreturn]] void leave_main() {
  static pthread_t main_thread = pthread_self(), others[3];
  static char text[] = "a text";
  static thread_local announcer of_main{"a thread_local object of main"};
  (void)&of_main.what[0];
  pthread_create(&others[0], nullptr, tell_when_main_is_gone, &main_thread);
  pthread_create(&others[1], nullptr, count_up, nullptr);
  pthread_create(&others[2], nullptr, count_up, nullptr);
  std::atexit([] { std::printf("others: %d\n", g_here.load()); });
  pthread_exit(text);
}

}  // namespace

int main(int count, char** words) {
  const char* const way = count > 1 ? words[1] : "";
  const auto is = [way](const char* text) { return std::strcmp(way, text) == 0; };
  if (is("return")) {
    on_threads(3, [](int) { run_for_ever(); });
    std::printf("main returns\n");
    return 5;
  }
  if (is("exit")) exit_of_thread(6);
  if (is("exit0")) exit_of_thread(0);
  if (is("leave")) leave_main();
  if (is("throw"))
    on_threads(3, [](int i) {
      if (i < 2)
        run_for_ever();
      else
        throw std::runtime_error("nobody catches this");
    });
  if (is("crash"))
    on_threads(3, [](int i) {
      if (i > 0)
        run_for_ever();
      else
        *reinterpret_cast<volatile int*>(8) = 1;
    });
  if (is("abort"))
    on_threads(3, [](int i) {
      if (i > 0)
        run_for_ever();
      else
        std::abort();
    });
  if (is("kill"))
    on_threads(3, [](int i) {
      if (i > 0)
        run_for_ever();
      else
        kill(getpid(), SIGKILL);
    });
  if (is("fork")) {
    int status = 0;
    std::thread([&status] {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) _exit(g_static.what == nullptr ? 9 : 0);
      waitpid(child, &status, 0);
    }).join();
    std::printf("the child's status is %d\n", WEXITSTATUS(status));
    return WEXITSTATUS(status);
  }
  while (true) pause();
}
