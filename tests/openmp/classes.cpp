// SPDX-License-Identifier: BSD-3-Clause
// C++ on all nodes: constructors before main(), containers, exceptions within a region, streams, destructors after
// main().
#include <omp.h>

#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct counted {
  static inline int alive = 0;
  std::vector<int> values = std::vector<int>(1000, 1);
  counted() { ++alive; }
  ~counted() {
    --alive;
    std::cout << "gone: " << alive << " left, " << values.size() << " values\n";
  }
};
counted g_first, g_second;

int slow_value() {
  static int made = 0;
  const double until = omp_get_wtime() + 0.01;
  while (omp_get_wtime() < until) {
  }
  return ++made;
}
int once() {
  static const int value = slow_value();  // made by the thread that comes first, while others wait
  return value;
}
std::map<std::string, int> g_words;

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::vector<double> squares(5000);
  std::vector<std::string> names(64);
  int caught = 0;
#pragma omp parallel
  {
#pragma omp for
    for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = static_cast<double>(i) * static_cast<double>(i);
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 64; ++i)
      names[static_cast<std::size_t>(i)] = "a name that is long enough for the heap, number " + std::to_string(i);
    try {
      if (omp_get_thread_num() >= 0) throw std::runtime_error("within");
    } catch (const std::exception& e) {
#pragma omp atomic
      caught += std::string(e.what()) == "within";
    }
    if (once() != 1) throw std::logic_error("a static object was made twice");
#pragma omp critical
    ++g_words["threads"];
  }
  auto shared = std::make_unique<std::vector<int>>();
#pragma omp parallel for schedule(static, 1) if (false)
  for (int i = 0; i < 4; ++i) shared->push_back(i);
  std::cout << std::accumulate(squares.begin(), squares.end(), 0.0) << ' ' << names[63] << ' '
            << (caught == g_words["threads"]) << ' ' << shared->size() << ' ' << counted::alive << '\n';
  return g_words["threads"] == omp_get_max_threads() ? 7 : 1;
}
