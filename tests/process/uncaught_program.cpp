// SPDX-License-Identifier: BSD-3-Clause
// A node that throws and does not catch, for uncaught_test: in a thread of its own, in main, with a handler of its own,
// after the end.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "node.hpp"

namespace {

using namespace quire::test;

struct own_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void own_handler() {
  std::fprintf(stderr, "the program's own handler\n");
  ::_exit(9);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "handler_before") std::set_terminate(&own_handler);
  REQUIRE_OK(quire_start(nullptr));
  if (what == "handler_after") std::set_terminate(&own_handler);
  barrier();
  const bool chosen = quire_node() == quire_nodes() - 1;
  if (what == "all")
    throw own_error("node " + std::to_string(quire_node()) + " has had\nenough" + std::string(2000, 'x'));
  if (what == "thread" && chosen) on_threads(1, [](int) { throw own_error("in a thread"); });
  if (what == "number" && chosen) throw 17;
  if (what == "no_exception" && chosen) std::terminate();
  if (what.starts_with("handler") && chosen) throw own_error("for the program's own handler");
  REQUIRE_OK(quire_end());
  if (what == "after_the_end") REQUIRE(std::get_terminate() == &__gnu_cxx::__verbose_terminate_handler);
  if (what == "handler_before" || what == "handler_after") REQUIRE(std::get_terminate() == &own_handler);
  return 0;
}
