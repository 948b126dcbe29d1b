// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for cancellation; its numbers of constructs are those of omp/team/cancel.hpp.
#include "program/omp/team/cancel.hpp"

#include "program/omp/gomp/export.hpp"

using namespace quire::program;

QUIRE_GOMP bool GOMP_cancellation_point(int which) { return is_cancelled(which); }
QUIRE_GOMP bool GOMP_cancel(int which, bool active) { return active ? cancel(which) : is_cancelled(which); }
QUIRE_GOMP bool GOMP_barrier_cancel() { return barrier_and_look(); }
QUIRE_GOMP bool GOMP_loop_end_cancel() { return barrier_and_look(); }
QUIRE_GOMP bool GOMP_sections_end_cancel() { return barrier_and_look(); }
