// SPDX-License-Identifier: BSD-3-Clause
// new and delete of the program's own: under a lock they count, and each block has its size before it.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t before = 16;
std::mutex g_mutex;
long g_blocks = 0, g_calls = 0;

void count(long blocks) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_blocks += blocks;
  ++g_calls;
}

}  // namespace

void* operator new(std::size_t bytes) {
  count(1);
  auto* const at = static_cast<char*>(std::malloc(bytes + before));
  if (at == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(at) = bytes;
  return at + before;
}
void operator delete(void* at) noexcept {
  if (at == nullptr) return;
  count(-1);
  std::free(static_cast<char*>(at) - before);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }

int main() {
  constexpr int threads = 4;
  std::map<int, std::string> texts[threads];
  const long blocks = g_blocks;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&texts, i] {
        for (int k = 0; k < 100; ++k) texts[i][k] = std::string(50, static_cast<char>('a' + i));
      });
    }
    for (auto& t : all) t.join();
    for (auto& t : texts) t.clear();
  }
  std::printf("%ld blocks left, calls %s\n", g_blocks - blocks, g_calls > 3200 ? "counted" : "lost");
  return 0;
}
