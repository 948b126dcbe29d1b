// SPDX-License-Identifier: BSD-3-Clause
#include "services/adoption.hpp"

#include <iterator>

#include "services/rows.hpp"

namespace quire::services {

namespace {

constexpr row<adoption::work> adoption_rows[] = {
    {adoption::work::check, taken_by::each},
    {adoption::work::copy, taken_by::each},
    {adoption::work::make, taken_by::leader_alone},
    {adoption::work::tell, taken_by::all_together},
};

}  // namespace

adoption::step adoption::go(std::size_t at) noexcept {
  for (at_ = at; at_ < std::size(adoption_rows); ++at_) {
    if (adoption_rows[at_].is_mine(makes_)) return now_ = {adoption_rows[at_].what};
  }
  return now_ = {work::over, result_};
}

adoption::step adoption::on_done(quire_status why) noexcept {
  const bool good = why == QUIRE_OK;
  if (now_.what == work::put_back) return now_ = {good ? work::over : work::give_up, result_};
  if (now_.what != work::meet && adoption_rows[at_].meets() && !alone_) return now_ = {work::meet};
  return good || adoption_rows[at_].is_alone() ? go(at_ + 1) : now_ = {work::over, why};
}

adoption::step adoption::on_told(quire_status why, bool made) noexcept {
  result_ = why;
  if (why == QUIRE_OK) return now_ = {work::over, why};
  return now_ = {made ? work::give_up : work::put_back, why};
}

}  // namespace quire::services
