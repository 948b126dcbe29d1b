// SPDX-License-Identifier: BSD-3-Clause
// Functions of streams: each is made where its stream is.
#pragma once

#include "openmp/files/errand.hpp"
#include "openmp/files/where.hpp"

/// A function all of whose arguments are values, or good everywhere.
#define QUIRE_OF_STREAM(result, name, parameters, stream, arguments, ...)                     \
  QUIRE_LIBC result name parameters __VA_ARGS__ {                                             \
    const int node = ::quire::openmp::node_of(stream, QUIRE_CALLER);                          \
    if (node == ::quire::openmp::here) return QUIRE_NEXT(name) arguments;                     \
    return ::quire::openmp::errand(node).run([=] { return QUIRE_NEXT(name) arguments; });     \
  }
/// The same without a result.
#define QUIRE_AT_STREAM(name, parameters, stream, arguments, ...)                             \
  QUIRE_LIBC void name parameters __VA_ARGS__ {                                               \
    const int node = ::quire::openmp::node_of(stream, QUIRE_CALLER);                          \
    if (node == ::quire::openmp::here) return QUIRE_NEXT(name) arguments;                     \
    (void)::quire::openmp::errand(node).run([=] { return QUIRE_NEXT(name) arguments, 0; });   \
  }
