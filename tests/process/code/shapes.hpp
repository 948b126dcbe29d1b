// SPDX-License-Identifier: BSD-3-Clause
// What code_program and the modules that it loads both know: types and names, and no code of the modules.
#pragma once

#include <stdexcept>

namespace code_test {

class shape {
 public:
  virtual ~shape() = default;
  virtual double hit(double x) const = 0;
  virtual const char* name() const = 0;
};

/// Thrown in a module, and caught in the program.
struct module_error : std::runtime_error {
  explicit module_error(int what) : std::runtime_error("of a module"), value(what) {}
  int value;
};

/// Thrown in the program, and passes through a module.
struct program_error {
  int value = 0;
};

enum class kind { circle, square };

using make_function = shape*(void* at, kind what, double size);
using change_function = int(int);
using call_back_function = int(change_function* f, int value);

}  // namespace code_test
