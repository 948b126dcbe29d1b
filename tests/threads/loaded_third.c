/* SPDX-License-Identifier: BSD-3-Clause */
// Without constructors or destructors.
static int values[2000] = {7};
int third_value(void) { return values[0]++; }
