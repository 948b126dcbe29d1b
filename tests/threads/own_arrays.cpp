// SPDX-License-Identifier: BSD-3-Clause
// new[] and delete[] of the program's own, without new and delete: what they make has a head of theirs.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <thread>

namespace {
constexpr std::size_t head = 16;
int g_made = 0, g_dropped = 0;
}  // namespace

void* operator new[](std::size_t n) {
  auto* const at = static_cast<char*>(std::malloc(n + head));
  if (at == nullptr) throw std::bad_alloc();
  ++g_made;
  return at + head;
}
void operator delete[](void* at) noexcept {
  if (at == nullptr) return;
  ++g_dropped;
  std::free(static_cast<char*>(at) - head);
}

int main() {
  for (int round = 0; round < 2; ++round) {
    std::thread([] {
      std::ifstream file("/dev/null");
      std::string word;
      file >> word;
      const std::unique_ptr<int[]> numbers(new int[200]);
      delete[] new (std::nothrow) long[100];
      ::operator delete[](::operator new[](90), std::size_t{90});
    }).join();
  }
  std::printf("made %d, left %d\n", g_made, g_made - g_dropped);
  return 0;
}
