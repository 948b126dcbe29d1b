// SPDX-License-Identifier: BSD-3-Clause
#include "services/container_call.hpp"

#include <utility>

namespace quire::services {

using order = container_order;
using kind = container_call::step::kind;

container_call::step container_call::ask(order what) noexcept {
  return asked_ = {kind::ask, leader_, what, number_, false};
}

container_call::step container_call::work(kind what) noexcept { return {.what = at_ = what}; }

container_call::step container_call::settle_other() noexcept {
  if (replaced_ == 0) return over();
  number_ = std::exchange(replaced_, std::uint16_t{0});
  return ask(order::settled);
}

container_call::step container_call::begin(unsigned leader) noexcept {
  asked_.node = leader_ = leader;
  return asked_;
}

container_call::step container_call::on_answer(quire_status why, std::uint64_t a, std::uint64_t b) noexcept {
  if (why == QUIRE_LOST && a != containers::for_good && leader_ + 1 < in_.nodes) return begin(leader_ + 1);
  const bool begins = asked_.has_name || alone_;
  if (begins) result_ = why;
  if (begins && why != QUIRE_OK) return over();
  if (asked_.has_name) {
    number_ = static_cast<std::uint16_t>(a);
    heads_ = b;
  }
  if (alone_) return over();
  switch (asked_.order) {
    case order::open:
      makes_ = (a & container_open::makes) != 0;
      return makes_ ? work(kind::make) : over();
    case order::take_away:
      return work(kind::claim);
    case order::rename:
      replaced_ = static_cast<std::uint16_t>(a >> 16);
      return number_ != 0 ? work(kind::rewrite) : over();
    case order::unlink:
      return work(kind::rewrite);
    case order::closed:
    case order::settled:
      return why == QUIRE_OK && a != 0 ? work(kind::destroy) : settle_other();
    default:
      return settle_other();
  }
}

container_call::step container_call::on_done(quire_status why) noexcept {
  switch (at_) {
    case kind::make:
      result_ = why;
      if (in_.survives) return work(kind::note);
      [[fallthrough]];
    case kind::note:
      return ask(result_ == QUIRE_OK ? order::made : order::failed);
    case kind::rewrite:
      return ask(order::settled);
    case kind::claim:
    case kind::destroy:
      if (why == QUIRE_OK) return work(at_ == kind::claim ? kind::destroy : kind::withdraw);
      if (asked_.order == order::take_away) result_ = why;  // else nobody has asked for the end
      return ask(order::stays);
    case kind::withdraw:
      return ask(order::gone);
    default:
      return over();
  }
}

}  // namespace quire::services
