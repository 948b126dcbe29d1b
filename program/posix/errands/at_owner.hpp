// SPDX-License-Identifier: BSD-3-Clause
// Functions of streams, descriptors and names of files: each is made where that is.
#pragma once

#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/threads/cancellation.hpp"

/// Where a function that may throw, by the last argument of the macros below, is a cancellation point.
#define QUIRE_CANCELLATION_POINT(...) \
  const ::quire::program::cancellation_point<(sizeof #__VA_ARGS__ > 1)> point(QUIRE_CALLER)
/// A function all of whose arguments are values, or good everywhere. `owner`: a stream, a descriptor, or new_one().
#define QUIRE_AT_OWNER(result, name, parameters, owner, arguments, ...)                    \
  QUIRE_LIBC result name parameters __VA_ARGS__ {                                          \
    QUIRE_CANCELLATION_POINT(__VA_ARGS__);                                                 \
    const int node = ::quire::program::node_of(owner, QUIRE_CALLER);                       \
    if (node == ::quire::program::here) return QUIRE_NEXT(name) arguments;                 \
    return ::quire::program::errand(node).run([=] { return QUIRE_NEXT(name) arguments; }); \
  }
/// The same without a result.
#define QUIRE_AT_OWNER_VOID(name, parameters, owner, arguments, ...)                         \
  QUIRE_LIBC void name parameters __VA_ARGS__ {                                              \
    QUIRE_CANCELLATION_POINT(__VA_ARGS__);                                                   \
    const int node = ::quire::program::node_of(owner, QUIRE_CALLER);                         \
    if (node == ::quire::program::here) return QUIRE_NEXT(name) arguments;                   \
    (void)::quire::program::errand(node).run([=] { return QUIRE_NEXT(name) arguments, 0; }); \
  }
/// One with memory: `prepare` exchanges arguments for what is good there, by `e`, an errand; `arguments_there` are then
/// made of it, and `finish` brings `done`'s memory back.
#define QUIRE_AT_OWNER_WITH(result, name, parameters, owner, arguments, prepare, arguments_there, finish, ...) \
  QUIRE_AT_OWNER_AS(result, name, parameters, owner, QUIRE_NEXT(name) arguments, prepare,                      \
                    QUIRE_NEXT(name) arguments_there, finish, __VA_ARGS__)
/// The same, of two expressions: for the call here, and there.
#define QUIRE_AT_OWNER_AS(result, name, parameters, owner, call_here, prepare, call_there, finish, ...) \
  QUIRE_LIBC result name parameters __VA_ARGS__ {                                                       \
    QUIRE_CANCELLATION_POINT(__VA_ARGS__);                                                              \
    const int node = ::quire::program::node_of(owner, QUIRE_CALLER);                                    \
    if (node == ::quire::program::here) return call_here;                                               \
    ::quire::program::errand e(node);                                                                   \
    prepare;                                                                                            \
    const auto done = e.run([=] { return call_there; });                                                \
    finish;                                                                                             \
    return done;                                                                                        \
  }
