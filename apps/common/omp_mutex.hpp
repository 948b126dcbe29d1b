// SPDX-License-Identifier: BSD-3-Clause
// A lock for std::unique_lock in a plain program: OpenMP's, or none where OpenMP is off.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

namespace apps {

class omp_mutex {
 public:
#ifdef _OPENMP
  omp_mutex() { omp_init_lock(&native_); }
  ~omp_mutex() { omp_destroy_lock(&native_); }
  omp_mutex(const omp_mutex&) = delete;
  omp_mutex& operator=(const omp_mutex&) = delete;
  void lock() { omp_set_lock(&native_); }
  void unlock() { omp_unset_lock(&native_); }

 private:
  omp_lock_t native_;
#else
  void lock() {}
  void unlock() {}
#endif
};

}  // namespace apps
