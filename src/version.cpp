// SPDX-License-Identifier: BSD-3-Clause
// The one translation unit of the shared library itself; everything else comes from the layers.
#include <quire/quire.h>

const char* quire_version(void) { return QUIRE_VERSION_STRING; }
