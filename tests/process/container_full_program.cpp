// SPDX-License-Identifier: BSD-3-Clause
// container_full_program DIRECTORY: a container over a file of a file system that is full but for 1 MiB, until
// DIRECTORY/ballast goes. Nothing that was written is lost: it stays in memory, and a later sync writes it.
#include "containers.hpp"

using namespace quire::test;

int main(int argc, char** argv) {
  REQUIRE(argc > 1);
  g_directory = argv[1];
  constexpr std::uint64_t bytes = (2u << 20) + 100;
  REQUIRE_OK(quire_start(nullptr));
  const quire_container c = open("data", options(QUIRE_CONTAINER_CREATE, "file", path("data").c_str()));
  on_node(quire_nodes() - 1, [&] {
    write(c, 0, content(bytes, 1));
    REQUIRE_STATUS(quire_container_sync(c, 0, 0), QUIRE_IO);
    REQUIRE(said("has not taken"));
  });
  REQUIRE_SAME(read(c, 0, bytes + 1), content(bytes, 1));
  on_node(0, [&] {
    write(c, 5, content(10, 2, 5));  // while it is full
    REQUIRE(quire_container_sync(c, 0, 0) == QUIRE_IO);
    REQUIRE(::unlink(path("ballast").c_str()) == 0);
  });
  (void)quire_container_sync(c, 0, 0);  // each node hears once of what has failed before
  barrier();
  REQUIRE_OK(quire_container_sync(c, 0, 0));
  barrier();
  auto wanted = content(bytes, 1);
  std::copy_n(content(10, 2, 5).begin(), 10, wanted.begin() + 5);
  REQUIRE_SAME(file_now("data"), wanted);
  REQUIRE_OK(quire_container_close(c));
  const bool tells = quire_node() == 0;
  REQUIRE_OK(quire_end());
  if (tells) std::puts("all is well");
}
