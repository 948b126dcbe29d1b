// SPDX-License-Identifier: BSD-3-Clause
// A program whose own libraries have static data, objects and regions: all nodes use one copy.
#include "library.hpp"

#include <omp.h>

#include <iostream>
#include <numeric>

namespace {
struct user {
  ~user() { std::cout << "the program ends: " << library_noted() << std::endl; }
} g_user;
}  // namespace

int main() {
  std::cout << library_sum(4) << ' ' << library_sum(4) << ' ' << library_total(4) << ' ' << library_total(4) << '\n';
  long area = 0;
  std::unique_ptr<shape> shapes[4];
#pragma omp parallel num_threads(4) reduction(+ : area)
  {
    const int me = omp_get_thread_num();
    library_count();
    library_note(me);
    shapes[me] = library_square(me + 1);
#pragma omp barrier
    area += shapes[(me + 1) % omp_get_num_threads()]->area();
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < library_values().size(); ++i) library_values()[i] += static_cast<int>(i);
  }
  const auto& values = library_values();
  std::cout << library_calls << ' ' << library_in_order() << ' ' << library_noted() << ' ' << area << ' '
            << std::accumulate(values.begin(), values.end(), 0) << std::endl;
  return 3;
}
