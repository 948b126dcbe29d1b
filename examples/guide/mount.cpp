// SPDX-License-Identifier: BSD-3-Clause
// Containers as files, of docs/guide/mount.md: quire run -n 2 --mount DIRECTORY guide/mount
#include <quire/container.hpp>
#include <quire/quire.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

int main() {
  quire::session job;
  const char* const mounted = std::getenv("QUIRE_MOUNT");
  if (mounted == nullptr) {
    std::fprintf(stderr, "start it with quire run --mount DIRECTORY\n");
    return 2;
  }
  // [sort]
  quire::file names("names", {.flags = quire::file::create});
  const std::string line = "node " + std::to_string(job.nodes() - job.node()) + "\n";
  names.append(std::as_bytes(std::span(line)));
  quire::barrier{}.arrive_and_wait();
  const std::string directory = mounted;                     // as `quire run --mount` was told
  if (job.node() == 0 && std::system(("sort " + directory + "/names > " + directory + "/sorted").c_str()) != 0) return 1;
  quire::barrier{}.arrive_and_wait();
  const quire::file sorted("sorted");                        // sort has made it
  const std::span<const char> text = sorted.as<const char>();
  // [/sort]
  const bool right = std::string(text.data(), sorted.size()).starts_with("node 1\n") && sorted.size() == names.size();
  quire::barrier{}.arrive_and_wait();
  if (job.node() == 0) std::printf("the lines are %s\n", right ? "sorted" : "WRONG");
  return right ? 0 : 1;
}
