// SPDX-License-Identifier: BSD-3-Clause
// Replaces a function of shapes.cpp. Linked lazily, so that its calls go through a table among the variables.
#include <cstdlib>

extern "C" {
int changes_made = 0;
int change(int value) {
  __atomic_fetch_add(&changes_made, 1, __ATOMIC_RELAXED);
  return std::abs(value) + 1000;
}
}
