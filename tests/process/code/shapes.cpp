// SPDX-License-Identifier: BSD-3-Clause
// A module with all that C++ puts into a library: virtual functions, tables of pointers, static objects, exceptions.
#include "shapes.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <quire/quire.h>

namespace {

using namespace code_test;

class circle final : public shape {
 public:
  explicit circle(double size) : size_(size) {}
  double hit(double x) const override { return std::sqrt(size_ * size_ - x * x); }
  const char* name() const override { return "circle"; }

 private:
  double size_;
};

class square final : public shape {
 public:
  explicit square(double size) : size_(size) {}
  double hit(double x) const override { return x < size_ ? size_ : 0; }
  const char* name() const override { return "square"; }

 private:
  double size_;
};

int twice(int value) { return 2 * value; }

/// Its address is in data, with a relocation.
int (*changes[])(int) = {twice, std::abs};
int (*const fixed_changes[])(int) = {std::abs, twice};

}  // namespace

extern "C" {
int number = 40;
int constructed = 0, constructed_on = -1, initialised = 0, unwound = 0;
int* ended = nullptr;  // where the end of the module is counted
char zeroes[3 << 20];  // some pages of .bss
int* number_by_pointer = &number;

shape* make_shape(void* at, kind what, double size) {
  if (what == kind::circle) return new (at) circle(size);
  return new (at) square(size);
}
double hit_all(const shape* const* all, int count, double x) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += all[i]->hit(x);
  return sum;
}
int next_number() { return ++*number_by_pointer; }
int change(int value) { return value + 1; }
int change_by(int which, int value) { return changes[which](value); }
int change_by_fixed(int which, int value) { return fixed_changes[which](value); }
change_function* change_pointer(int which) { return changes[which]; }
change_function* import_pointer() { return &std::abs; }
std::size_t length_of(const char* text) { return std::strlen(text); }
double root_of(double value) { return std::cbrt(value); }
const char* describe(int value) {
  static char text[64];
  std::strcpy(text, ("number " + std::to_string(value)).c_str());
  return text;
}
void fail_with(int value) {
  struct count_unwinding {
    ~count_unwinding() { ++unwound; }
  } counts;
  throw module_error(value);
}
int call_back(change_function* f, int value) {
  struct count_unwinding {
    ~count_unwinding() { ++unwound; }
  } counts;
  return f(value);
}
int catch_inside(int value) {
  try {
    fail_with(value);
  } catch (const std::exception& e) {
    return static_cast<const module_error&>(e).value;
  }
  return -1;
}
bool is_circle(const shape* s) { return dynamic_cast<const circle*>(s) != nullptr; }
int once() {
  static const int made = [] {
    ++initialised;
    return 7;
  }();
  return made;
}
void* remote(void* argument) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(argument) +
                                 static_cast<std::uintptr_t>(quire_node()) + 1);
}
}

namespace {
struct static_object {
  static_object() {
    ++constructed;
    constructed_on = quire_node();
    text = new std::string("of the node that loads");
  }
  ~static_object() {
    delete text;
    if (ended != nullptr) ++*ended;
  }
  std::string* text;
} object;

__attribute__((destructor)) void at_the_end() {
  if (ended != nullptr) *ended += 100;
}
}  // namespace
