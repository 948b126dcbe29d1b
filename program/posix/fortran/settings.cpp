// SPDX-License-Identifier: BSD-3-Clause
// main() of a Fortran program begins with calls that tell libgfortran how the program was compiled, and its arguments.
// It runs on node 0: others make the same calls later. Arrays are constants of the executable, or the arguments, which
// are shared.
#include <dlfcn.h>

#include <iterator>

#include "program/job/job.hpp"
#include "program/job/shared_state.hpp"
#include "program/posix/fortran/units.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {

constexpr const char* functions[] = {"_gfortran_set_args",          "_gfortran_set_options",
                                     "_gfortran_set_fpe",           "_gfortran_set_convert",
                                     "_gfortran_set_record_marker", "_gfortran_set_max_subrecord_length"};
enum function : std::uint32_t {
  set_args,
  set_options,
  set_fpe,
  set_convert,
  set_record_marker,
  set_max_subrecord_length
};
static_assert(std::size(functions) == set_max_subrecord_length + 1);

/// Functions of one argument get a second one, which they do not look at.
void make(const fortran_settings::call& c) noexcept {
  using real_function = void (*)(std::int32_t, void*);
  if (const auto real = reinterpret_cast<real_function>(::dlsym(RTLD_NEXT, functions[c.function])); real != nullptr)
    real(c.number, c.array);
}

void tell(std::uint32_t function, std::int32_t number, void* array = nullptr) noexcept {
  const fortran_settings::call c{function, number, array};
  make(c);
  if (job().nodes == 1 || job().node != 0) return;
  fortran_settings& all = shared().fortran;
  if (all.count == fortran_settings::most) fail("a Fortran program tells its library too much", QUIRE_LIMIT);
  all.calls[all.count++] = c;
}

}  // namespace

namespace quire::program {

void repeat_fortran_settings() noexcept {
  const fortran_settings& all = shared().fortran;
  for (std::uint32_t i = 0; i < all.count; ++i) make(all.calls[i]);
}

}  // namespace quire::program

QUIRE_LIBC void _gfortran_set_args(int count, char** texts) { tell(set_args, count, texts); }
QUIRE_LIBC void _gfortran_set_options(int count, int* options) { tell(set_options, count, options); }
QUIRE_LIBC void _gfortran_set_fpe(int traps) { tell(set_fpe, traps); }
QUIRE_LIBC void _gfortran_set_convert(int kind) { tell(set_convert, kind); }
QUIRE_LIBC void _gfortran_set_record_marker(int bytes) { tell(set_record_marker, bytes); }
QUIRE_LIBC void _gfortran_set_max_subrecord_length(int bytes) { tell(set_max_subrecord_length, bytes); }
