// SPDX-License-Identifier: BSD-3-Clause
// Double faults (KOAN): a read fault that the same node's write fault of the same unit follows. A read fault of a unit
// that is going to be written asks for a writable copy at once, and saves the second fault with its messages. Threads
// say so by advice; and each unit learns it by itself, and forgets it when it no longer pays.
#include "protocol/sequential/doubles.hpp"

namespace quire::sequential {

void habits::on_advice(std::uint64_t unit, bool will_write) { table_.touch(unit).advised = will_write ? 1 : 0; }

/// The unit is about to be asked for, to be read: whether a writable copy is the better wish.
bool habits::read_as_write(unit_state& s) {
  const bool used_to = table_.shape.learns && s.habit >= habit_learned;
  if (s.advised == 0 && !used_to) {
    s.read_first = 1;
    return false;
  }
  ++table_.count.exclusive_reads;
  if (s.advised != 0) return true;
  if (s.habit == habit_learned) {
    s.probe = 1;
  } else {
    --s.habit;
  }
  return true;
}

/// A thread here writes: by a fault, an atomic operation, or soon, having pinned the unit.
void habits::note_write(unit_state& s) {
  if (table_.shape.one_memory) return;
  if (s.probe != 0) {
    s.probe = 0;
    s.habit = habit_sure;
  }
  if (s.read_first == 0 || s.right() == access::none) return;  // still on its way
  s.read_first = 0;
  if (s.right() == access::write) return;  // an atomic operation has brought it, and no fault
  ++table_.count.double_faults;
  if (table_.shape.learns && s.habit < habit_learned) ++s.habit;
}

/// The right to write is taken from this node, or all rights are.
void habits::note_loss(unit_state& s, access to) {
  if (table_.shape.one_memory) return;
  if (s.probe != 0 && s.right() == access::write) {
    s.probe = 0;
    s.habit = 0;
    ++table_.count.exclusive_wasted;
  }
  if (s.read_first != 0 && to == access::none && s.pending() == access::none) {
    s.read_first = 0;
    s.habit = 0;
  }
}

}  // namespace quire::sequential
