/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for the report of a job (`quire run --report`, QUIRE_REPORT). Where nobody wants a report the calls check their
 * arguments, and do nothing. Thread context, statuses and words as in quire.h. */
#ifndef QUIRE_REPORT_H
#define QUIRE_REPORT_H

#include <quire/quire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The report calls the `bytes` from `address` on by this name, of 1 to 63 characters, which is copied. One node tells
 * it: the report has the labels of all. A later label for the same address takes the place of this one. Any thread.
 * QUIRE_INVALID: no bytes, or no such name; QUIRE_BAD_ADDRESS: not all of it is shared; QUIRE_LIMIT: the node has 1,024
 * labels (only where a report is wanted). */
QUIRE_API quire_status quire_label(const void* address, uint64_t bytes, const char* name);

/** What the calling thread does from now on, the report says under this name, of 1 to 63 characters, which is copied;
 * NULL: under none, as at the start. Any thread, as often as you like: threads and nodes may be in different phases.
 * QUIRE_INVALID: no such name; QUIRE_LIMIT: the node has 63 names of phases (only where a report is wanted). */
QUIRE_API quire_status quire_phase(const char* name);

#ifdef __cplusplus
}
#endif

#endif
