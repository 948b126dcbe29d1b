// SPDX-License-Identifier: BSD-3-Clause
// Containers, of docs/guide/containers.md: quire run -n 2 guide/containers
#include <quire/container.hpp>
#include <quire/quire.hpp>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <system_error>

namespace {

// [linker]
/// The squares of the numbers from 0 on, as bytes of a file that nobody has written.
class squares : public quire::linked_content {
 public:
  squares(const std::string& what, unsigned /*flags*/) : numbers_(std::stoull(what)) {}
  std::uint64_t bytes() override { return numbers_ * sizeof(std::uint64_t); }
  void fill(std::uint64_t at, std::span<std::byte> into) override {
    auto* const numbers = reinterpret_cast<std::uint64_t*>(into.data());
    for (std::uint64_t i = 0; i < into.size() / sizeof *numbers; ++i) {
      const std::uint64_t n = at / sizeof *numbers + i;
      numbers[i] = n * n;
    }
  }

 private:
  std::uint64_t numbers_;
};
// [/linker]

}  // namespace

int main() {
  quire::session job;
  const int pid = quire::from_node(0, [] { return ::getpid(); });
  const std::string path = std::filesystem::temp_directory_path() / ("quire_guide_containers_" + std::to_string(pid));
  // [open]
  quire::file table("table", {.what = path, .flags = quire::file::create, .bytes = 1'000 * sizeof(double)});
  const std::span<double> numbers = table.as<double>();      // the same memory on all nodes
  for (std::size_t i = static_cast<std::size_t>(job.node()); i < numbers.size(); i += static_cast<std::size_t>(job.nodes())) {
    numbers[i] = static_cast<double>(i) / 2;
  }
  quire::barrier{}.arrive_and_wait();
  double last = 0;
  table.read_at(999 * sizeof(double), std::as_writable_bytes(std::span(&last, 1)));  // a call sees what mappings have written
  table.sync();                                              // and now the file has it
  // [/open]
  // [append]
  quire::file log("log", {.flags = quire::file::create});    // no linker: it lives in the memory of the job
  const std::string line = "node " + std::to_string(job.node()) + " was here\n";
  log.append(std::as_bytes(std::span(line)));                // one after the other, each as a whole
  // [/append]
  quire::barrier{}.arrive_and_wait();
  // [squares]
  quire::register_linker<squares>("squares", QUIRE_LINK_ANYWHERE);  // on all nodes
  quire::barrier{}.arrive_and_wait();
  const quire::file all("all squares", {.linker = "squares", .what = "100000", .flags = quire::file::create | quire::file::read_only});
  const std::uint64_t one = all.as<const std::uint64_t>()[777];     // computed when it is needed, once in the job
  // [/squares]
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(999 * sizeof(double));
  double written = 0;
  stream.read(reinterpret_cast<char*>(&written), sizeof written);
  const bool right = last == 499.5 && written == 499.5 && log.size() == line.size() * static_cast<std::size_t>(job.nodes()) && one == 777 * 777;
  quire::barrier{}.arrive_and_wait();
  table.close();
  quire::barrier{}.arrive_and_wait();
  if (job.node() == 0) {
    quire::remove_container("table", true);
    std::printf("the containers are %s\n", right ? "right" : "WRONG");
  }
  return right ? 0 : 1;
}
