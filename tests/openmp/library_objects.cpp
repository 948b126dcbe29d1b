// SPDX-License-Identifier: BSD-3-Clause
// A library of the program's own, in C++: static objects with constructors and destructors, containers that all nodes
// fill.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "library.hpp"

extern "C" int library_calls;

namespace {

struct noted {
  std::vector<std::string> names{"first, with a text that is too long for the object itself"};
  std::vector<int> values = std::vector<int>(1000, 1);
  ~noted() {
    std::sort(names.begin(), names.end());
    std::cout << "the C++ library ends: " << names.size() << " names, the last is " << names.back() << ", "
              << values.size() << " values" << std::endl;
  }
};
noted g_noted;
std::map<std::string, int> g_counts{{"begun", library_calls}};  // of a library that is made before

}  // namespace

std::vector<int>& library_values() {
  static std::vector<int> made(100, 5);
  return made;
}

void library_note(int thread) {
#pragma omp critical
  {
    g_noted.names.push_back("thread " + std::to_string(thread) +
                            ", with a text that is too long for the object itself");
    ++g_counts["noted"];
  }
}

int library_noted() { return g_counts.at("noted") + g_counts.at("begun"); }

long shape::area() const { return -1; }
std::unique_ptr<shape> library_square(long side) {
  struct square final : shape {
    long side;
    explicit square(long s) : side(s) {}
    [[nodiscard]] long area() const override { return side * side; }
  };
  return std::make_unique<square>(side);
}

long library_total(int threads) {
  long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(dynamic, 10)
  for (std::size_t i = 0; i < g_noted.values.size(); ++i) sum += g_noted.values[i]++;
  return sum;
}
