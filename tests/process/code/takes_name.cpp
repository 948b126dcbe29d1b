// SPDX-License-Identifier: BSD-3-Clause
// A module that takes its own name before it gets it; with QUIRE_TEST_PIN its variables cannot go.
#include <cstdlib>

#include <quire/quire.h>

namespace {
char variable;

__attribute__((constructor)) void take() {
  int holder = -1;
  if (std::getenv("QUIRE_TEST_PIN") != nullptr && quire_pin(&variable, 1, -1, &holder) != QUIRE_OK) std::abort();
  if (quire_publish("code:takes_name.so", &variable) != QUIRE_OK) std::abort();
}
__attribute__((destructor)) void end() { ::setenv("QUIRE_TEST_ENDED", "1", 1); }
}  // namespace
