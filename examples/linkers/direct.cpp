// SPDX-License-Identifier: BSD-3-Clause
// Calls the functions of a linker as Quire does, without Quire, and compares with a copy in memory: the first test of a
// new linker.
//   linker_NAME_direct WHAT           content that can be written: it is made, filled, cut, opened again, and removed
//                                     at the end if the linker can do that
//   linker_NAME_direct WHAT expected  content that is there already, as in the file `expected`
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <quire/container.h>

#include "linkers.h"

namespace {

const quire_linker& tested = LINKER;
const std::size_t grain = tested.grain != 0 ? tested.grain : 4096;

#define REQUIRE(condition)                                                                                   \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      std::fprintf(stderr, "FAILED %s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, std::strerror(errno)); \
      std::exit(1);                                                                                          \
    }                                                                                                        \
  } while (false)
#define REQUIRE_0(call)  \
  do {                   \
    errno = (call);      \
    REQUIRE(errno == 0); \
  } while (false)

void* open(const char* what, unsigned flags, std::uint64_t& bytes) {
  void* self = nullptr;
  errno = tested.open(tested.context, what, flags, &bytes, &self);
  REQUIRE(errno == 0);
  return self;
}

/// All ranges of several sizes have the content of `expected`, and zeroes behind its end; by as many threads as the
/// linker allows.
void compare(void* self, const std::vector<char>& expected) {
  const unsigned threads = std::min(tested.threads == 0 ? 4U : tested.threads, 4U);
  std::vector<std::thread> readers;
  for (unsigned t = 0; t < threads; ++t) {
    readers.emplace_back([&, t] {
      const std::size_t piece = grain * (t + 1);
      std::vector<char> got(piece), right(piece);
      for (std::size_t at = 0; at <= expected.size() + piece; at += piece) {
        std::fill(right.begin(), right.end(), 0);
        if (at < expected.size())
          std::memcpy(right.data(), expected.data() + at, std::min(piece, expected.size() - at));
        std::fill(got.begin(), got.end(), 'x');
        const int tried = tested.try_fill != nullptr ? tested.try_fill(self, at, got.data(), piece) : EAGAIN;
        REQUIRE(tried == 0 || tried == EAGAIN);
        if (tried != 0) REQUIRE_0(tested.fill(self, at, got.data(), piece));
        REQUIRE(got == right);
      }
    });
  }
  for (auto& reader : readers) reader.join();
}

/// Flushes ranges of whole grains at random; what is behind the end is zero.
void write_some(void* self, std::vector<char>& content, std::mt19937& random) {
  const std::size_t grains = (content.size() + grain - 1) / grain;
  for (int i = 0; i < 40 && grains != 0; ++i) {
    const std::size_t first = random() % grains, count = 1 + random() % std::min<std::size_t>(grains - first, 5);
    const std::size_t at = first * grain;
    std::vector<char> piece(count * grain);
    // Half of it is the same again and again, which can be compressed.
    for (std::size_t k = 0; k < piece.size() && at + k < content.size(); ++k)
      piece[k] = static_cast<char>(k % 64 < 32 ? i : static_cast<int>(random()));
    const std::size_t within = std::min(piece.size(), content.size() - at);
    // Without a grain, ranges end with the content.
    REQUIRE_0(tested.flush(self, at, piece.data(), tested.grain != 0 ? piece.size() : within));
    std::memcpy(content.data() + at, piece.data(), within);
  }
}

void check_written(const char* what, std::vector<char> content) {
  const bool resizes = (tested.can & QUIRE_LINK_TRUNCATE) != 0;
  std::mt19937 random(1);
  std::uint64_t bytes = 1;
  void* self = nullptr;
  if (resizes) REQUIRE(tested.open(tested.context, what, 0, &bytes, &self) == ENOENT);
  self = open(what, resizes ? QUIRE_CONTAINER_CREATE : 0, bytes);
  REQUIRE(bytes == content.size());
  for (const std::size_t size :
       {10 * grain + 100, 3 * grain - 1, 3 * grain, 20 * grain + 1, std::size_t{0}, 7 * grain + 5}) {
    if (resizes) {
      content.resize(size);
      REQUIRE_0(tested.truncate(self, size));
    }
    compare(self, content);
    write_some(self, content, random);
    compare(self, content);
    REQUIRE_0(tested.sync(self));
    tested.close(self);
    self = open(what, 0, bytes);
    REQUIRE(bytes == content.size());
    compare(self, content);
  }
  tested.close(self);
  if (!resizes) return;
  self = open(what, QUIRE_CONTAINER_TRUNCATE, bytes);
  REQUIRE(bytes == 0);
  compare(self, {});
  tested.close(self);
  REQUIRE_0(tested.remove(tested.context, what));
  REQUIRE(tested.open(tested.context, what, 0, &bytes, &self) == ENOENT);
}

std::vector<char> content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s WHAT [EXPECTED]\n", argv[0]);
    return 2;
  }
  const std::vector<char> expected = argc > 2 ? content_of(argv[2]) : std::vector<char>();
  if (argc > 2) {
    std::uint64_t bytes = 0;
    void* const self = open(argv[1], QUIRE_CONTAINER_READ_ONLY, bytes);
    REQUIRE(bytes == expected.size());
    compare(self, expected);
    tested.close(self);
  }
  if ((tested.can & QUIRE_LINK_WRITE) != 0) check_written(argv[1], expected);
  std::printf("%s is right\n", tested.name);
}
