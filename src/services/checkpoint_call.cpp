// SPDX-License-Identifier: BSD-3-Clause
#include "services/checkpoint_call.hpp"

#include <iterator>

#include "services/rows.hpp"

namespace quire::services {

namespace {

using of = taken_by;

using saves = checkpoint_save::work;
constexpr row<saves> save_rows[] = {
    {saves::path, of::all_together},
    {saves::hold_names, of::leader_alone},
    {saves::begin, of::leader},
    {saves::identity, of::all_together},
    {saves::describe, of::each},
    {saves::hold, of::all_together},
    {saves::sync, of::each},
    // Nobody goes on before all have written: what a keeper has would be sent away, or change.
    {saves::write, of::each},
    {saves::let_go, of::each_alone},
    {saves::gather, of::all_together},
    {saves::commit, of::leader},
    {saves::prune, of::leader_alone},
    {saves::let_names_go, of::leader_alone},
};

using restores = checkpoint_restore::work;
constexpr row<restores> restore_rows[] = {
    {restores::path, of::all_together},   {restores::look, of::each},    {restores::list, of::leader},
    {restores::choose, of::all_together}, {restores::check, of::each},   {restores::link, of::all_together},
    {restores::tables, of::each},         {restores::content, of::each}, {restores::load, of::all_together},
    {restores::tasks, of::leader},
};
constexpr std::size_t choose_row = 3;
static_assert(restore_rows[choose_row].what == restores::choose);

}  // namespace

// ---- To save

checkpoint_save::step checkpoint_save::go(std::size_t at) noexcept {
  for (at_ = at; at_ < std::size(save_rows); ++at_) {
    const auto& r = save_rows[at_];
    if (r.is_mine(leads_)) return now_ = {r.what};
    if (r.meets()) return now_ = {work::meet};
  }
  return now_ = {work::over, result_};
}

checkpoint_save::step checkpoint_save::clean_up() noexcept {
  const auto next = [&](bool& what, work ends) {
    what = false;
    return now_ = step{ends};
  };
  if (held_) return next(held_, work::let_go);
  if (begun_) return next(begun_, work::abandon);
  if (names_held_) return next(names_held_, work::let_names_go);
  return now_ = {work::over, result_};
}

checkpoint_save::step checkpoint_save::on_done(quire_status why) noexcept {
  if (result_ != QUIRE_OK) return clean_up();
  const bool good = why == QUIRE_OK;
  if (now_.what == work::begin) begun_ = good;
  if (now_.what == work::commit && good) begun_ = false;
  if (now_.what == work::hold) held_ = good;
  if (now_.what == work::let_go) held_ = false;
  if (now_.what == work::hold_names) names_held_ = true;
  if (now_.what != work::meet && save_rows[at_].meets()) return now_ = {work::meet};
  if (good || save_rows[at_].is_alone()) return go(at_ + 1);
  result_ = why;
  return clean_up();
}

// ---- To restore

checkpoint_restore::step checkpoint_restore::go(std::size_t at) noexcept {
  for (at_ = at; at_ < std::size(restore_rows); ++at_) {
    const auto& r = restore_rows[at_];
    if (r.what == work::link) taken_ = true;
    if (r.is_mine(leads_)) return now_ = {r.what};
    if (r.meets()) return now_ = {work::meet};
  }
  return now_ = {work::over, QUIRE_OK};
}

checkpoint_restore::step checkpoint_restore::fail(quire_status why) noexcept {
  const work what = restore_rows[at_].what;
  if (what == work::choose && why == QUIRE_NOT_FOUND) return now_ = {work::over, first_ != QUIRE_OK ? first_ : why};
  if (what != work::check || (why != QUIRE_DAMAGED && why != QUIRE_SYSTEM)) return now_ = {work::over, why};
  if (first_ == QUIRE_OK) first_ = why;
  ++passed_over_;
  return go(choose_row);
}

checkpoint_restore::step checkpoint_restore::on_done(quire_status why) noexcept {
  if (now_.what != work::meet && restore_rows[at_].meets()) return now_ = {work::meet};
  return why == QUIRE_OK ? go(at_ + 1) : fail(why);
}

}  // namespace quire::services
