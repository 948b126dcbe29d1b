// SPDX-License-Identifier: BSD-3-Clause
// Regions that call what may throw, as most of C++ does: as many as the argument says.
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace {

double plus(long more, double x) {
  if (x < 0) throw std::runtime_error("negative");
  return x + static_cast<double>(more);
}
double (*volatile g_function)(long, double) = plus;
long g_wrong[8];

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
  double x = 0.5;
  for (int i = 0; i < rounds; ++i, x += 1) {
#pragma omp parallel
    if (g_function(i, x) != 0.5 + 2 * i) g_wrong[omp_get_thread_num() % 8] = 1;
  }
  // One that has a handler: it is not looked through.
  long caught = 0;
#pragma omp parallel reduction(+ : caught)
  try {
    caught += g_function(1, -x) > 0;
  } catch (const std::exception&) {
    caught += 2;
  }
  long wrong = 0;
  for (const long w : g_wrong) wrong += w;
  std::printf("caught %ld, wrong %ld\n", caught, wrong);
  return wrong != 0;
}
