// SPDX-License-Identifier: BSD-3-Clause
// A library that asks for its parent, for redirect_test.cpp.
#include <unistd.h>

extern "C" pid_t victim_parent() { return ::getppid(); }
