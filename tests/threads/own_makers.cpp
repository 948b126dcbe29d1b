// SPDX-License-Identifier: BSD-3-Clause
// All operators new and delete of the program's own. Each block has before it which one has made it: whoever drops it
// is the one that goes with that. A library with a name of libstdc++'s calls them: for threads of the program these,
// and for Quire, as on the stack of a signal handler, Quire's.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>
#include <string>

extern "C" void make_each();
extern "C" void drop_sized(void* one, void* many);

namespace {
int g_made = 0, g_dropped = 0, g_wrong = 0, g_before = -1, g_in_handler = -1;
constexpr std::size_t room = 256;  // before each block

void* make(std::size_t bytes, char kind) {
  auto* const at = static_cast<char*>(std::aligned_alloc(room, (bytes + 2 * room - 1) / room * room));
  if (at == nullptr) throw std::bad_alloc();
  at[room - 1] = kind;
  ++g_made;
  return at + room;
}
void drop(void* at, char kind) {
  if (at == nullptr) return;
  auto* const block = static_cast<char*>(at) - room;
  g_wrong += block[room - 1] == kind ? 0 : 1;
  ++g_dropped;
  std::free(block);
}

struct first {
  first() { g_before = g_made + g_dropped; }
};
__attribute__((init_priority(101))) first g_first;

void handle(int) {
  const int before = g_made + g_dropped;
  make_each();
  g_in_handler = g_made + g_dropped - before;
}

void* work(void*) {
  stack_t stack{};
  stack.ss_size = 64 << 10;
  stack.ss_sp = std::malloc(stack.ss_size);
  sigaltstack(&stack, nullptr);
  struct sigaction how {};
  how.sa_handler = handle;
  how.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &how, nullptr);
  pthread_kill(pthread_self(), SIGUSR1);
  std::printf("in a handler %d\n", g_in_handler);
  make_each();
  drop_sized(::operator new(9), ::operator new[](9));
  std::ostringstream text;
  for (int i = 0; i < 300; ++i) text << i << ' ';
  std::ifstream file("/dev/null");
  std::string word;
  file >> word;
  std::printf("%zu characters, %s\n", text.str().size(), word.empty() ? "nothing" : "something");
  return nullptr;
}
}  // namespace

void* operator new(std::size_t n) { return make(n, '1'); }
void* operator new[](std::size_t n) { return make(n, '2'); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return make(n, '1'); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return make(n, '2'); }
void* operator new(std::size_t n, std::align_val_t) { return make(n, '3'); }
void* operator new[](std::size_t n, std::align_val_t) { return make(n, '4'); }
void* operator new(std::size_t n, std::align_val_t, const std::nothrow_t&) noexcept { return make(n, '3'); }
void* operator new[](std::size_t n, std::align_val_t, const std::nothrow_t&) noexcept { return make(n, '4'); }
void operator delete(void* at) noexcept { drop(at, '1'); }
void operator delete[](void* at) noexcept { drop(at, '2'); }
void operator delete(void* at, std::size_t) noexcept { drop(at, '1'); }
void operator delete[](void* at, std::size_t) noexcept { drop(at, '2'); }
void operator delete(void* at, const std::nothrow_t&) noexcept { drop(at, '1'); }
void operator delete[](void* at, const std::nothrow_t&) noexcept { drop(at, '2'); }
void operator delete(void* at, std::align_val_t) noexcept { drop(at, '3'); }
void operator delete[](void* at, std::align_val_t) noexcept { drop(at, '4'); }
void operator delete(void* at, std::align_val_t, const std::nothrow_t&) noexcept { drop(at, '3'); }
void operator delete[](void* at, std::align_val_t, const std::nothrow_t&) noexcept { drop(at, '4'); }

int main() {
  std::printf("before the program %d\n", g_before);
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    pthread_join(thread, nullptr);
  }
  std::printf("%s, %d left, %d dropped by another one\n", g_made > 20 ? "made" : "few", g_made - g_dropped, g_wrong);
  return 0;
}
