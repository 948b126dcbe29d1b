// SPDX-License-Identifier: BSD-3-Clause
// A file read into shared memory, of docs/guide/files.md: quire run -n 2 guide/files
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <vector>

#include <quire/quire.hpp>

namespace {

// [read]
void read_part(const char* path, std::span<char> part, std::size_t offset) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);     // a descriptor belongs to one node: each node opens the file
  while (file >= 0 && !part.empty()) {
    const ssize_t got = ::pread(file, part.data(), part.size(), static_cast<off_t>(offset));
    if (got <= 0) break;
    part = part.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::size_t>(got);
  }
  if (!part.empty()) throw std::system_error(errno, std::generic_category(), path);
  ::close(file);
}
// [/read]

}  // namespace

int main() {
  quire::session job;
  const char* path = "/proc/self/exe";
  const std::size_t size = std::filesystem::file_size(path);
  // [share]
  auto content = quire::from_node(0, [size] { return quire::make_shared_array<char>(size); });
  const std::size_t begin = size * static_cast<std::size_t>(job.node()) / static_cast<std::size_t>(job.nodes());
  const std::size_t end = size * static_cast<std::size_t>(job.node() + 1) / static_cast<std::size_t>(job.nodes());
  read_part(path, content.subspan(begin, end - begin), begin);
  quire::barrier{}.arrive_and_wait();                      // now every node sees the whole file
  // [/share]
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> expected{std::istreambuf_iterator<char>(stream), {}};
  const bool right = std::equal(content.begin(), content.end(), expected.begin(), expected.end());
  if (job.node() == 0) std::printf("%zu bytes are %s\n", content.size(), right ? "right" : "WRONG");
  return right ? 0 : 1;
}
