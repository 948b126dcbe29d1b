// SPDX-License-Identifier: BSD-3-Clause
#include "services/code_call.hpp"

namespace quire::services {

using work = code_call::work;

/// To attach it: in the order of their numbers. All others: this node last, which knows the module as long as the call
/// can be made again.
code_call::step code_call::tell(code_order what) noexcept {
  told_ = 0;
  worst_ = QUIRE_OK;
  now_ = {.what = work::order, .node = 0, .order = what};
  return tell_next();
}

code_call::step code_call::tell_next() noexcept {
  const unsigned turn = told_++;
  if (turn == nodes_) return all_are_told();
  now_.node = now_.order == code_order::attach ? turn : (self_ + 1 + turn) % nodes_;
  const bool last_stays = now_.order == code_order::detach && !fails_ && turn + 1 == nodes_ && worst_ != QUIRE_OK;
  return last_stays ? all_are_told() : now_;
}

code_call::step code_call::all_are_told() noexcept {
  switch (now_.order) {
    case code_order::attach:
      return does(work::construct);
    case code_order::run_exits:
      if (fails_) return constructed_ ? does(work::destruct) : tell(code_order::detach);
      return worst_ == QUIRE_OK ? does(work::claim) : over(worst_);
    default:
      if (fails_) return does(work::destroy_data);
      return worst_ == QUIRE_OK ? does(work::destroy_code) : over(worst_);
  }
}

code_call::step code_call::give_up(quire_status why) noexcept {
  fails_ = true;
  result_ = why;
  return attached_ ? tell(code_order::run_exits) : does(work::destroy_data);
}

code_call::step code_call::on_done(quire_status why) noexcept {
  const bool good = why == QUIRE_OK;
  switch (now_.what) {
    case work::prepare:
      attached_ = good;
      return good ? tell(code_order::attach) : give_up(why);
    case work::order:
      if (!good && why != QUIRE_LOST) {
        if (now_.order == code_order::attach) return give_up(why);
        if (worst_ == QUIRE_OK) worst_ = why;
      }
      return tell_next();
    case work::construct:
      constructed_ = good;
      return good ? does(work::publish) : give_up(why);
    case work::publish:
      return good ? over(QUIRE_OK) : give_up(why);
    case work::look:
      if (why == QUIRE_NOT_FOUND) return tell(code_order::detach);
      if (why == QUIRE_EXISTS) return does(work::destroy_data);
      return good ? tell(code_order::run_exits) : over(why);
    case work::claim:
      if (why == QUIRE_EXISTS) return over(QUIRE_BUSY);  // another call has begun after this one's look
      return good ? does(work::destruct) : over(why);
    case work::destruct:
      return fails_ ? tell(code_order::detach) : does(work::destroy_data);
    case work::destroy_data:
      // Variables that cannot go keep their place, which is part of the code's.
      if (fails_) return good ? does(work::destroy_code) : over(result_);
      return good ? tell(code_order::detach) : over(why);
    case work::destroy_code:
      result_ = fails_ ? result_ : why;
      return !fails_ && why == QUIRE_BUSY ? does(work::attach_again) : over(result_);
    default:
      return over(result_);
  }
}

}  // namespace quire::services
