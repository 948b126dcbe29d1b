// SPDX-License-Identifier: BSD-3-Clause
// Owns the precompiled headers of the tests of units, machines and the simulator: none of them has to be built for another one's sake.
int main() {}
