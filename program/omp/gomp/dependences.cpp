// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/gomp/dependences.hpp"

#include "program/process/fail.hpp"

namespace quire::program {
namespace {

using depends = dependence::kind;

/// An omp_depend_t: an address, and a number for the kind.
dependence of_object(void* object) {
  const auto* const words = static_cast<const std::uintptr_t*>(object);
  constexpr std::uintptr_t in = 1, out = 2, inout = 3, exclusive = 4, set = 5;
  const std::uintptr_t number = words[1];
  if (number < in || number > set)
    fail("a depend object is of a kind that this version does not know, or was never initialised", QUIRE_UNSUPPORTED);
  static_assert(out + 1 == inout && inout + 1 == exclusive);
  return {reinterpret_cast<const void*>(words[0]), number == in    ? depends::in
                                                   : number == set ? depends::set
                                                                   : depends::out};
}

}  // namespace

dependence_list dependences_of(void** array) {
  dependence_list all;
  const auto number = [&](std::size_t i) { return reinterpret_cast<std::uintptr_t>(array[i]); };
  const bool old = number(0) != 0;
  const std::uintptr_t count = old ? number(0) : number(1), outs = old ? number(1) : number(2) + number(3),
                       ins = old ? count - outs : number(4);
  void** const addresses = array + (old ? 2 : 5);
  all.reserve(count);
  for (std::uintptr_t i = 0; i < count; ++i) {
    if (i >= outs + ins) {
      all.push_back(of_object(addresses[i]));
    } else {
      all.push_back({addresses[i], i < outs ? depends::out : depends::in});
    }
  }
  return all;
}

}  // namespace quire::program
