/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that needs libquire. */
#include <quire/quire.h>

int nodes_of_library(void) { return quire_nodes(); }
