/* SPDX-License-Identifier: BSD-3-Clause */
/* All that is in a library which stands in for an OpenMP runtime: its name and its versions matter (README.md), and
   some linkers want a symbol. */
extern const char quire_stand_in;
const char quire_stand_in = 1;

#ifdef QUIRE_APART
/* Comes right behind the executable's thread-local variables, and keeps those of libraries away from their pages
   (program/posix/memory/thread_data.cpp). */
__attribute__((used)) static _Thread_local char apart[8192];
#endif
