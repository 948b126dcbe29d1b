// SPDX-License-Identifier: BSD-3-Clause
// No module: a library of dlopen(3), whose constructor loads one and unloads it.
#include <cstdlib>

#include <quire/code.h>

extern "C" {
int loaded_by_constructor = QUIRE_SYSTEM;
__attribute__((constructor)) void load_in_constructor() {
  quire_code made{};
  quire_status why = quire_code_load(std::getenv("QUIRE_TEST_MODULE"), nullptr, &made);
  if (why == QUIRE_OK) why = quire_code_unload(made);
  loaded_by_constructor = why;
}
}
