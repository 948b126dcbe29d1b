/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked statically, without libc, which may have no static library here. It is not run. */
void _start(void);
void _start(void) {
  for (;;) continue;
}
