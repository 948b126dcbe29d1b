// SPDX-License-Identifier: BSD-3-Clause
// A variable with the address of what is private to each process.
#include <cstdio>

FILE** stream = &stdout;
extern "C" void print_there() { std::fputs("there\n", *stream); }
