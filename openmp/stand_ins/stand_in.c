/* SPDX-License-Identifier: BSD-3-Clause */
/* All that is in a library which stands in for an OpenMP runtime: its name and its versions matter (README.md), and some
   linkers want a symbol. */
extern const char quire_stand_in;
const char quire_stand_in = 1;
