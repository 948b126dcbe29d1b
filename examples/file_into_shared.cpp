// SPDX-License-Identifier: BSD-3-Clause
// A file read straight into shared memory: every node reads its part with read(2) into pages that another node has had
// in its hands, and then all see the whole file. No private buffer, no copy.
// Run it: quire run -n 2 file_into_shared [file]
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <vector>

#include <quire/quire.hpp>

namespace {

/// Reads `part` of the file from `offset` on; throws if the file ends before.
void read_part(const char* path, std::span<char> part, std::size_t offset) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || lseek(file, static_cast<off_t>(offset), SEEK_SET) < 0)
    throw std::system_error(errno, std::generic_category(), path);
  while (!part.empty()) {
    const ssize_t got = read(file, part.data(), part.size());
    if (got <= 0) throw std::system_error(got < 0 ? errno : EIO, std::generic_category(), path);
    part = part.subspan(static_cast<std::size_t>(got));
  }
  close(file);
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "/proc/self/exe";
  quire::session job;
  struct stat facts {};
  if (stat(path, &facts) != 0 || facts.st_size == 0) throw std::system_error(errno, std::generic_category(), path);
  const auto content = quire::from_node(0, [&] {
    const auto made = quire::make_shared_array<char>(static_cast<std::size_t>(facts.st_size));
    std::fill(made.begin(), made.end(), '?');  // now all pages are on node 0
    return made;
  });

  const auto node = static_cast<std::size_t>(job.node());
  const auto nodes = static_cast<std::size_t>(job.nodes());
  const std::size_t begin = content.size() * node / nodes;
  const std::size_t end = content.size() * (node + 1) / nodes;
  read_part(path, content.subspan(begin, end - begin), begin);
  quire::barrier{}.arrive_and_wait();

  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> expected{std::istreambuf_iterator<char>(stream), {}};
  const bool same = std::equal(content.begin(), content.end(), expected.begin(), expected.end());
  std::printf("node %d: %zu bytes of %s are %s\n", job.node(), content.size(), path, same ? "right" : "WRONG");
  return same ? 0 : 1;
}
