// SPDX-License-Identifier: BSD-3-Clause
// Types that a garbage-collected heap refuses when the program is compiled: shareable_refused.py holds the errors
// against the comments. Not part of any build.
#include <quire/gc.hpp>

#include <mutex>
#include <string>

namespace {

namespace gc = quire::gc;

struct silent {
  int number = 0;
};
struct base {
  gc::ref<base> next;
  QUIRE_GC_FIELDS(base, next)
};
struct derived : base {  // names no fields of its own
  gc::ref<derived> other;
};
struct destroyed {
  ~destroyed() {}
  QUIRE_GC_FIELDS(destroyed)
};
struct alignas(64) aligned {
  char bytes[64];
  QUIRE_GC_FIELDS(aligned)
};
struct locked {
  std::mutex guard;
  QUIRE_GC_FIELDS(locked)
};
struct misnamed {
  int number = 0;
  QUIRE_GC_FIELDS(misnamed, number)
};

}  // namespace

void refused(gc::heap heap) {
  (void)heap.make<silent>();          // -> without fields if there are none
  (void)heap.make<derived>();         // -> without fields if there are none
  (void)heap.make<int*>();            // -> use gc::ref
  (void)heap.make_array<base*>(3);    // -> use gc::ref
  (void)heap.make<destroyed>();       // -> a collection runs no destructors
  (void)heap.make<aligned>();         // -> objects are aligned to 16 bytes
  (void)heap.make<locked>();          // -> use quire::mutex
  (void)heap.make_array<int[3]>(2);   // -> are no arrays, nor const
  (void)misnamed::quire_gc_fields();  // -> names a field that is no gc::ref
}
