// SPDX-License-Identifier: BSD-3-Clause
#include "services/collection_call.hpp"

#include <iterator>

#include "services/rows.hpp"

namespace quire::services {

namespace {

using collects = collection_call::work;
constexpr row<collects> collection_rows[] = {
    {collects::close, taken_by::all_together},  {collects::types, taken_by::each_alone},
    {collects::hold, taken_by::all_together},   {collects::keep, taken_by::all_together},
    {collects::mark, taken_by::all_together},   {collects::live, taken_by::all_together},
    {collects::plan, taken_by::all_together},   {collects::let_go, taken_by::each_alone},
    {collects::move, taken_by::all_together},   {collects::open, taken_by::each_alone},
    {collects::sum_up, taken_by::all_together},
};

}  // namespace

collection_call::step collection_call::go(std::size_t at) noexcept {
  at_ = at;
  if (at_ == std::size(collection_rows)) return now_ = {work::over, result_};
  return now_ = {collection_rows[at_].what};
}

/// Some node may have closed where another could not.
collection_call::step collection_call::clean_up() noexcept {
  if (held_) {
    held_ = false;
    return now_ = {work::let_go};
  }
  if (closed_) {
    closed_ = false;
    return now_ = {work::open};
  }
  return now_ = {work::over, result_};
}

collection_call::step collection_call::on_done(quire_status why) noexcept {
  if (result_ != QUIRE_OK) return clean_up();
  const bool good = why == QUIRE_OK;
  if (now_.what == work::close) closed_ = true;
  if (now_.what == work::hold) held_ = good;
  if (now_.what == work::let_go) held_ = false;
  if (now_.what == work::open) closed_ = false;
  if (good || collection_rows[at_].is_alone()) return go(at_ + 1);
  result_ = why;
  return clean_up();
}

}  // namespace quire::services
