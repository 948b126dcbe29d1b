// SPDX-License-Identifier: BSD-3-Clause
// new of the program's own gives whole pages between pages that nobody may access, as allocators that look for errors
// do. libstdc++ gives such blocks back.
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

namespace {
constexpr std::size_t page = 4096, inside = 8 * page, least = 500, before = 16;
std::atomic<long> g_paged{0};

char* make_pages() {
  void* const at = ::mmap(nullptr, inside + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const first = static_cast<char*>(at) + page;
  if (at == MAP_FAILED || ::mprotect(at, page, PROT_NONE) != 0 || ::mprotect(first + inside, page, PROT_NONE) != 0)
    std::abort();
  ++g_paged;
  return first;
}
}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes >= least && bytes <= inside) return make_pages();
  auto* const at = static_cast<char*>(std::malloc(bytes + before));
  if (at == nullptr) throw std::bad_alloc();
  return at + before;
}
void operator delete(void* at) noexcept {
  if (at == nullptr) return;
  auto* const block = static_cast<char*>(at);
  if (reinterpret_cast<std::uintptr_t>(at) % page != 0) return std::free(block - before);
  ::munmap(block - page, inside + 2 * page);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }

namespace {
void* work(void* argument) {
  auto& text = *static_cast<std::string*>(argument);
  for (int i = 0; i < 400; ++i) text.append("forty bytes of text that go behind it..");  // grows within libstdc++
  return argument;
}
}  // namespace

int main() {
  std::string texts[3];
  for (std::string& text : texts) {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, &text);
    pthread_join(thread, nullptr);
    std::printf("%zu bytes\n", text.size());
    text.clear();
    text.shrink_to_fit();
  }
  std::printf("pages: %d\n", g_paged > 9);
  return 0;
}
