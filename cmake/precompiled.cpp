// SPDX-License-Identifier: BSD-3-Clause
// What owns precompiled headers (precompiled.cmake): no target that shares them has to be built for another one's sake.
int main() {}
