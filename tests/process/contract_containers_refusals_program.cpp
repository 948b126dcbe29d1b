// SPDX-License-Identifier: BSD-3-Clause
// What calls for containers refuse, and what they say. Argument: none; `refused`, in jobs where there are no
// containers.
#include <quire/container.h>

#include <string>

#include "containers.hpp"

namespace {

using namespace quire::test;

void refusals() {
  quire_container c{};
  const auto refused = [&](const char* name, const quire_container_options& o, quire_status why, const char* part) {
    REQUIRE_STATUS(quire_container_open(name, &o, &c), why);
    REQUIRE(said(part));
  };
  constexpr unsigned create = QUIRE_CONTAINER_CREATE;
  if (quire_node() == 0) {
    REQUIRE_STATUS(quire_container_open("r", nullptr, nullptr), QUIRE_INVALID);
    REQUIRE(said("place for the handle"));
    refused(nullptr, options(create), QUIRE_INVALID, "is NULL");
    refused("", options(create), QUIRE_INVALID, "is empty");
    refused(std::string(64, 'x').c_str(), options(create), QUIRE_INVALID, "more than 63");
    refused("a/b", options(create), QUIRE_INVALID, "one component");
    refused("r", options(0), QUIRE_NOT_FOUND, "no container 'r'");
    refused("r", options(64), QUIRE_INVALID, "flags");
    refused("r", options(QUIRE_CONTAINER_EXCLUSIVE), QUIRE_INVALID, "EXCLUSIVE");
    refused("r", options(create | QUIRE_CONTAINER_READ_ONLY), QUIRE_INVALID, "size is 0");
    refused("r", options(create, nullptr, nullptr, std::uint64_t{1} << 60), QUIRE_NO_ADDRESSES, "QUIRE_RANGE");
    refused("r", options(create, "nobody"), QUIRE_NOT_FOUND, "no linker 'nobody'");
    refused("r", options(create, "file"), QUIRE_INVALID, "no path");
    refused("r", options(create, "file", std::string(1024, 'x').c_str()), QUIRE_INVALID, "1023");
    refused("r", options(create, "file", path("none/none").c_str()), QUIRE_NOT_FOUND, "cannot open");
    refused("r", options(create, "file", g_directory.c_str()), QUIRE_INVALID, "cannot open");
    refused("r", options(create, "throttle", "mbps=x;file;y"), QUIRE_INVALID, "cannot open");
    auto o = options(create, nullptr, nullptr, 8192);
    o.size = 3;
    refused("r", o, QUIRE_INVALID, "sizeof");
    o = options(create, nullptr, nullptr, 8192);
    o.unit_bytes = 5000;
    refused("r", o, QUIRE_INVALID, "power of two");
    o.unit_bytes = 0;
    o.capacity = 4096;
    refused("r", o, QUIRE_INVALID, "less than the content");
    o.capacity = 0;
    o.placement = QUIRE_PLACE_NODE;
    o.home = quire_nodes();
    refused("r", o, QUIRE_INVALID, "no node");
    o.home = 0;
    o.placement = QUIRE_PLACE_FIRST_TOUCH;
    refused("r", o, QUIRE_INVALID, "placement");
    o = options(create, "file", path("released").c_str(), 4096);
    o.consistency = QUIRE_RELEASE;
    refused("r", o, QUIRE_UNSUPPORTED, "sequential");
    REQUIRE_STATUS(quire_container_remove("r", 0), QUIRE_NOT_FOUND);
    REQUIRE_STATUS(quire_container_remove("r", 8), QUIRE_INVALID);
    REQUIRE_STATUS(quire_container_close(c), QUIRE_INVALID);
    c.id = 1;
    REQUIRE_STATUS(quire_container_close(c), QUIRE_NOT_FOUND);
    c.id = 1 | std::uint64_t{1} << 48;
    std::uint64_t bytes = 0;
    REQUIRE_STATUS(quire_container_bytes(c, &bytes), QUIRE_NOT_FOUND);
  }
  // A second one, for reading; and writing where it must not be.
  c = open("refusals", options(create, nullptr, nullptr, 100));
  barrier();
  if (quire_node() == 0) {
    quire_container other{};
    refused("refusals", options(create | QUIRE_CONTAINER_EXCLUSIVE), QUIRE_EXISTS, "there is a container");
    other = open("refusals", options(QUIRE_CONTAINER_READ_ONLY));
    std::size_t done = 7;
    REQUIRE_STATUS(quire_container_write(other, 0, "x", 1, &done), QUIRE_INVALID);
    REQUIRE_EQUAL(done, 0);
    REQUIRE_STATUS(quire_container_append(other, "x", 1, nullptr), QUIRE_INVALID);
    REQUIRE_STATUS(quire_container_truncate(other, 1), QUIRE_INVALID);
    REQUIRE_STATUS(quire_container_remove("refusals", 0), QUIRE_BUSY);
    REQUIRE(said("open"));
    REQUIRE_OK(quire_container_close(other));
    std::uint64_t capacity = 0;
    REQUIRE_OK(quire_container_map(c, nullptr, &capacity));
    REQUIRE_STATUS(quire_container_write(c, capacity, "x", 1, &done), QUIRE_BEYOND);
    REQUIRE_STATUS(quire_container_write(c, UINT64_MAX, "x", 1, &done), QUIRE_BEYOND);
    REQUIRE_STATUS(quire_container_truncate(c, capacity + 1), QUIRE_BEYOND);
    REQUIRE_EQUAL(bytes_of(c), 100);
    quire_region region{};
    REQUIRE_OK(quire_container_region(c, &region));
    REQUIRE_STATUS(quire_region_destroy(region), QUIRE_INVALID);
    REQUIRE(said("container"));
    REQUIRE_STATUS(quire_container_drop(c, 0, 0), QUIRE_UNSUPPORTED);
  }
  barrier();
  REQUIRE_OK(quire_container_close(c));
  REQUIRE_STATUS(quire_container_close(c), QUIRE_NOT_FOUND);
  on_node(quire_nodes() - 1, [] { REQUIRE_OK(quire_container_remove("refusals", 0)); });
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE_OK(quire_start(nullptr));
  if (argc > 1 && std::string(argv[1]) == "refused") {
    quire_container c{};
    REQUIRE_STATUS(quire_container_open("c", nullptr, &c), QUIRE_UNSUPPORTED);
    REQUIRE(said("fork") || said("lost"));
  } else {
    make_directory();
    refusals();
    remove_directory();
  }
  REQUIRE_OK(quire_end());
  return 0;
}
