/* SPDX-License-Identifier: BSD-3-Clause */
const int constant_in_code = 7;
int function_of_library(void) { return constant_in_code; }
