// SPDX-License-Identifier: BSD-3-Clause
// Memory by all calls that give it, passed between threads and freed by others, whichever allocator the program was
// linked with. The last line is in the buffer of standard output when main() ends.
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4, kinds = 12, rounds = 50;

struct alignas(64) wide {
  char text[192];
};

struct block {
  char* at = nullptr;
  std::size_t bytes = 0;
};

block make(int kind, std::size_t bytes) {
  void* at = nullptr;
  switch (kind) {
    case 0:
      at = std::malloc(bytes);
      break;
    case 1:
      at = std::calloc(2, (bytes + 1) / 2);
      break;
    case 2:
      at = std::realloc(std::malloc(8), bytes);
      break;
    case 3:
      at = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      break;
    case 4:
      if (posix_memalign(&at, 4096, bytes) != 0) at = nullptr;
      break;
    case 5:
      at = memalign(32, bytes);
      break;
    case 6:
      at = strdup(std::string(bytes - 1, 'x').c_str());
      break;
    case 7:
      at = new char[bytes];
      break;
    case 8:
      at = ::operator new(bytes);
      break;
    case 9:
      at = new (std::nothrow) char[bytes];
      break;
    case 10:
      at = ::operator new (bytes, std::align_val_t{128});
      break;
    case 11:
      at = new wide[(bytes + sizeof(wide) - 1) / sizeof(wide)];
      break;
  }
  return {static_cast<char*>(at), bytes};
}

void drop(int kind, block b) {
  switch (kind) {
    case 7:
      delete[] b.at;
      break;
    case 8:
      ::operator delete(b.at);
      break;
    case 9:
      delete[] b.at;
      break;
    case 10:
      ::operator delete (b.at, std::align_val_t{128});
      break;
    case 11:
      delete[] reinterpret_cast<wide*>(b.at);
      break;
    default:
      std::free(b.at);
  }
}

bool is_aligned(int kind, const char* at) {
  constexpr std::uintptr_t wanted[kinds] = {8, 8, 8, 64, 4096, 32, 1, 8, 8, 8, 128, 64};
  return reinterpret_cast<std::uintptr_t>(at) % wanted[kind] == 0;
}

block g_blocks[threads][kinds][rounds];
std::shared_ptr<std::string> g_texts[threads];
int g_wrong[threads];

std::size_t size_of(int thread, int kind, int round) {
  return 1 + static_cast<std::size_t>(17 * round * round + 100 * kind + thread);
}

void fill(int thread) {
  for (int kind = 0; kind < kinds; ++kind) {
    for (int round = 0; round < rounds; ++round) {
      block& b = g_blocks[thread][kind][round] = make(kind, size_of(thread, kind, round));
      if (b.at == nullptr || !is_aligned(kind, b.at)) {
        ++g_wrong[thread];
        continue;
      }
      std::memset(b.at, 'a' + thread, b.bytes);
    }
  }
  g_texts[thread] = std::make_shared<std::string>(1000, static_cast<char>('a' + thread));
}

void look_and_free(int thread) {
  const int from = (thread + 1) % threads;
  for (int kind = 0; kind < kinds; ++kind) {
    for (block b : g_blocks[from][kind]) {
      for (std::size_t i = 0; i < b.bytes; ++i) g_wrong[thread] += b.at[i] != 'a' + from;
      drop(kind, b);
    }
  }
  if (*g_texts[from] != std::string(1000, static_cast<char>('a' + from))) ++g_wrong[thread];
  g_texts[from].reset();
}

template <class Body>
void on_all(Body body) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(body, i);
  for (auto& t : all) t.join();
}

}  // namespace

int main() {
  for (int i = 0; i < 3; ++i) {
    on_all(fill);
    on_all(look_and_free);
  }
  std::printf("wrong %d %d %d %d\n", g_wrong[0], g_wrong[1], g_wrong[2], g_wrong[3]);
  return 0;
}
