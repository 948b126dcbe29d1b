/* SPDX-License-Identifier: BSD-3-Clause */
static int one(void) { return 1; }
static int (*choose(void))(void) { return one; }
int chosen(void) __attribute__((ifunc("choose")));
int call_chosen(void) { return chosen(); }
