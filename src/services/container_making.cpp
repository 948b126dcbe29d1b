// SPDX-License-Identifier: BSD-3-Clause
#include "services/container_making.hpp"

namespace quire::services {

container_making::step container_making::does(work what, unsigned node) {
  return now_ = {.what = what, .node = node, .first = what == work::attach && attached_.empty(), .why = result_};
}

container_making::step container_making::begin() {
  return wanted_.linked ? does(work::attach, wanted_.home) : does(work::shape);
}

container_making::step container_making::share_out() {
  if ((wanted_.at_one && !wanted_.survives) || wanted_.nodes == 1) return does(work::shape);
  if (wanted_.identifies) return does(work::identify, wanted_.home);
  everywhere_ = wanted_.anywhere;
  return everywhere_ ? attach_next(0) : does(work::shape);
}

container_making::step container_making::identify_next(unsigned node) {
  node = other_from(node);
  if (node < wanted_.nodes) return does(work::identify, node);
  everywhere_ = true;
  return attach_next(0);
}

container_making::step container_making::attach_next(unsigned node) {
  node = other_from(node);
  return node < wanted_.nodes ? does(work::attach, node) : does(work::shape);
}

container_making::step container_making::offer_next() {
  return told_ < attached_.size() ? does(work::offer, attached_[told_++]) : does(work::create);
}

container_making::step container_making::detach_next() {
  return told_ < attached_.size() ? does(work::detach, attached_[told_++]) : does(work::over);
}

container_making::step container_making::fail(quire_status why) {
  result_ = why;
  told_ = 0;
  return created_ ? does(work::destroy) : detach_next();
}

container_making::step container_making::on_done(quire_status why, std::uint64_t identity) {
  const bool good = why == QUIRE_OK, lost = why == QUIRE_LOST && wanted_.survives;
  switch (now_.what) {
    case work::attach:
      if (!good && (!lost || now_.first)) return fail(why);
      if (good) attached_.push_back(now_.node);
      return now_.first ? share_out() : attach_next(now_.node + 1);
    case work::identify:
      if (now_.node == wanted_.home) {
        identity_ = identity;
        return good ? identify_next(0) : does(work::shape);
      }
      return lost || (good && identity == identity_) ? identify_next(now_.node + 1) : does(work::shape);
    case work::shape:
      return good ? offer_next() : fail(why);
    case work::offer:
      return good || lost ? offer_next() : fail(why);
    case work::create:
      created_ = good;
      if (!good) return fail(why);
      return wanted_.cuts ? does(work::cut, wanted_.home) : does(work::settle);
    case work::cut:
      return good ? does(work::settle) : fail(why);
    case work::settle:
      return good ? does(work::over) : fail(why);
    case work::destroy:
    case work::detach:
      return detach_next();
    default:
      return does(work::over);
  }
}

}  // namespace quire::services
