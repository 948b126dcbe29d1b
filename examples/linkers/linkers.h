/* SPDX-License-Identifier: BSD-3-Clause */
/* The linkers of this folder, for quire_linker_register(). Each is a file of its own, which needs nothing of the
 * others. */
#ifndef QUIRE_EXAMPLES_LINKERS_H
#define QUIRE_EXAMPLES_LINKERS_H
#include <quire/linker.h>
#ifdef __cplusplus
extern "C" {
#endif
extern const quire_linker zstd_linker; /* "zstd": `what` is a directory, where each 64 KiB are a compressed file */
extern const quire_linker
    npy_linker; /* "npy": `what` is a file of NumPy; the container is the array without the header */
extern const quire_linker
    http_linker; /* "http": `what` is a URL, of a server that gives parts of files (S3 does); read-only */
extern const quire_linker
    sqlite_linker; /* "sqlite": `what` is FILE#NAME, pages in a table of that file; a sync is a transaction */
#ifdef __cplusplus
}
#endif
#endif
