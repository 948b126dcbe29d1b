// SPDX-License-Identifier: BSD-3-Clause
// A newer function for examples/shapes.cpp.
extern "C" double shade_point(double cosine) { return 0.5 + 0.5 * cosine; }
