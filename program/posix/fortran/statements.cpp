// SPDX-License-Identifier: BSD-3-Clause
// Input and output statements of Fortran are calls of libgfortran, which each node has for itself: a statement begins
// (st_write), each value is a call (transfer_integer_write), and it ends (st_write_done). Where another node has the
// unit, all calls of the statement are made there, by one clerk, as the thread that begins it holds the unit until its
// end. What they are about lies in shared memory: the statement's own record is on the caller's stack.
#include <cstddef>
#include <cstdint>

#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/fortran/units.hpp"
#include "program/posix/memory/unit_use.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"
#include "program/process/private_memory.hpp"

using namespace quire::program;

namespace {

/// What a statement begins with in memory (st_parameter_common of libgfortran's io.h).
struct statement {
  std::uint32_t flags;
  std::int32_t unit;
};
using statement_function = void(statement*);
constexpr std::uint32_t to_text = 1u << 14;      ///< of READ and WRITE: the unit is a variable
constexpr std::uint32_t to_new_unit = 1u << 23;  ///< of OPEN: its number is the library's to choose
constexpr std::uint32_t about_file = 1u << 14;   ///< of INQUIRE: by a name
constexpr std::int32_t some_new_unit = -1;

/// A statement of the calling thread that another node carries out.
struct remote_statement {
  const void* record;
  remote_statement* outer;  ///< one within a function that this one calls
  errand at;
  remote_statement(const void* r, int node, remote_statement* o) noexcept : record(r), outer(o), at(node) {}
};
thread_local constinit remote_statement* t_remote = nullptr;

bool is_remote(const void* record) noexcept { return t_remote != nullptr && t_remote->record == record; }

template <class Call>
void call_there(const Call& call) noexcept {
  (void)t_remote->at.run([call] {
    call();
    return 0;
  });
}

/// A call of a statement that has begun.
template <class Call>
void call_within(const void* record, const Call& call) {
  is_remote(record) ? call_there(call) : call();
}

template <class Call>
void begin(statement* s, const void* caller, const Call& call) {
  const int node = (s->flags & to_text) != 0 ? here : node_of_unit(s->unit, false, caller);
  if (node == here) {
    begin_unit_use();
    return call();
  }
  t_remote = make_private<remote_statement>(s, node, t_remote);
  call_there(call);
}

template <class Call>
void finish(statement* s, const Call& call) {
  if (!is_remote(s)) {
    call();
    return end_unit_use();
  }
  call_there(call);
  remote_statement* const done = t_remote;
  t_remote = done->outer;
  destroy_private(done);
}

/// One call is all of the statement. `changes`: the unit may be open afterwards, or not any more.
template <class Call>
void call_at(int node, std::int32_t unit, bool changes, const Call& call) {
  if (node == here) {
    const unit_use now;
    call();
    if (changes) note_owner(unit);
    return;
  }
  errand there(node);
  (void)there.run([call, unit, changes] {
    call();
    if (changes) note_owner(unit);
    return 0;
  });
}

}  // namespace

/// Statements whose values are calls of their own, between the first one and the last one.
#define QUIRE_LONG_STATEMENT(name)                                                                \
  QUIRE_LIBC void _gfortran_st_##name(statement* s) {                                             \
    begin(s, QUIRE_CALLER, [s] { QUIRE_NEXT_AS(statement_function, "_gfortran_st_" #name)(s); }); \
  }                                                                                               \
  QUIRE_LIBC void _gfortran_st_##name##_done(statement* s) {                                      \
    finish(s, [s] { QUIRE_NEXT_AS(statement_function, "_gfortran_st_" #name "_done")(s); });      \
  }
QUIRE_LONG_STATEMENT(write)
QUIRE_LONG_STATEMENT(read)

#define QUIRE_SHORT_STATEMENT(name, changes)                                    \
  QUIRE_LIBC void _gfortran_st_##name(statement* s) {                           \
    call_at(node_of_unit(s->unit, false, QUIRE_CALLER), s->unit, changes, [s] { \
      QUIRE_NEXT_AS(statement_function, "_gfortran_st_" #name)(s);              \
    });                                                                         \
  }
QUIRE_SHORT_STATEMENT(rewind, false)
QUIRE_SHORT_STATEMENT(backspace, false)
QUIRE_SHORT_STATEMENT(endfile, false)
QUIRE_SHORT_STATEMENT(flush, false)
QUIRE_SHORT_STATEMENT(wait, false)
QUIRE_SHORT_STATEMENT(close, true)

QUIRE_LIBC void _gfortran_st_open(statement* s) {
  const std::int32_t unit = (s->flags & to_new_unit) != 0 ? some_new_unit : s->unit;
  call_at(node_of_unit(unit, true, QUIRE_CALLER), unit, true, [s] {
    QUIRE_NEXT_AS(statement_function, "_gfortran_st_open")(s);
  });
}
QUIRE_LIBC void _gfortran_st_inquire(statement* s) {
  const int node = (s->flags & about_file) != 0 ? here : node_of_unit(s->unit, false, QUIRE_CALLER);
  call_at(node, s->unit, false, [s] { QUIRE_NEXT_AS(statement_function, "_gfortran_st_inquire")(s); });
}

/// The values of a statement. The first argument is its record.
#define QUIRE_VALUE(name, parameters, arguments)                                               \
  QUIRE_LIBC void _gfortran_##name parameters {                                                \
    using value_function = void parameters;                                                    \
    call_within(record, [=] { QUIRE_NEXT_AS(value_function, "_gfortran_" #name) arguments; }); \
  }
#define QUIRE_KIND(name)                                                                     \
  QUIRE_VALUE(transfer_##name, (void* record, void* value, int kind), (record, value, kind)) \
  QUIRE_VALUE(transfer_##name##_write, (void* record, void* value, int kind), (record, value, kind))
QUIRE_KIND(integer)
QUIRE_KIND(logical)
QUIRE_KIND(real)
QUIRE_KIND(complex)
QUIRE_KIND(real128)
QUIRE_KIND(complex128)
QUIRE_VALUE(transfer_character, (void* record, void* text, std::size_t length), (record, text, length))
QUIRE_VALUE(transfer_character_write, (void* record, void* text, std::size_t length), (record, text, length))
QUIRE_VALUE(transfer_character_wide, (void* record, void* text, std::size_t length, int kind),
            (record, text, length, kind))
QUIRE_VALUE(transfer_character_wide_write, (void* record, void* text, std::size_t length, int kind),
            (record, text, length, kind))
QUIRE_VALUE(transfer_array, (void* record, void* array, int kind, std::size_t length), (record, array, kind, length))
QUIRE_VALUE(transfer_array_write, (void* record, void* array, int kind, std::size_t length),
            (record, array, kind, length))

/// Of a namelist. The last argument of a variable is what libgfortran calls its dtype.
struct data_type {
  std::uint64_t words[2];
};
QUIRE_VALUE(st_set_nml_var,
            (void* record, void* value, char* name, std::int32_t length, std::size_t text_length, data_type type),
            (record, value, name, length, text_length, type))
QUIRE_VALUE(st_set_nml_var_dim,
            (void* record, std::int32_t dimension, std::ptrdiff_t stride, std::ptrdiff_t lower, std::ptrdiff_t upper),
            (record, dimension, stride, lower, upper))

/// Types with input and output of their own call procedures of the program, whose stack would be private there.
#define QUIRE_OWN_TYPE(name, parameters, arguments)                                                                    \
  QUIRE_LIBC void _gfortran_##name parameters {                                                                        \
    using value_function = void parameters;                                                                            \
    if (is_remote(record))                                                                                             \
      fail(                                                                                                            \
          "a type with input and output of its own is used with a unit that another node has opened: do this outside " \
          "of parallel regions, or in `!$omp master`",                                                                 \
          QUIRE_UNSUPPORTED);                                                                                          \
    QUIRE_NEXT_AS(value_function, "_gfortran_" #name) arguments;                                                       \
  }
QUIRE_OWN_TYPE(transfer_derived, (void* record, void* value, void* procedure), (record, value, procedure))
QUIRE_OWN_TYPE(st_set_nml_dtio_var,
               (void* record, void* value, char* name, std::int32_t length, std::size_t text_length, data_type type,
                void* procedure, void* table),
               (record, value, name, length, text_length, type, procedure, table))
