// SPDX-License-Identifier: BSD-3-Clause
// Units that are written in every interval, or nearly, keep their right: threads go on writing without a fault, nothing
// is protected at a release, and the twin stays and keeps up with what is sent. At each release the node compares the
// few units that there are with their twins. After Keleher, "Update Protocols and Iterative Scientific Applications"
// (IPPS 1998), whose "overdrive" predicts which pages an iteration will write; here nothing has to be right, as a unit
// that is not written after all costs a comparison.
//
// A copy is kept when it was written in two intervals. A home keeps a unit of which it sends updates (update.cpp): its
// twin is the content as of `version`, an interval of its own, and it sends patches, what it has changed since. What
// comes to the home as a diff goes into the twin as well, so a patch has only what threads of the home wrote. A copy
// that has the home's writes up to that interval, or a later one, has all of them when the patch is in it; its node may
// be writing other bytes meanwhile, and its diffs may be on their way. Others' writes have notices of their own, which
// take the copy away.
//
// What a home that keeps a unit sends whole is its twin, too. It must not be later than that: where a byte is as it was
// again when the next patch is made, the patch would not have it. Nor may it become later on its way (it is copied when
// it leaves): a patch that was made meanwhile, and comes behind it, would put some bytes of an older value into a newer
// one.
//
// At the home a thread may write between a release and the moment when it is told. Nobody needs to hear of that again:
// the patch has it, and copies from before fall to the notice. At any other time a release tells all that differs from
// the twin, so that nothing is in a patch which a thread elsewhere may have seen, and overwritten, before.
#include "protocol/release/kept.hpp"

#include <algorithm>

namespace quire::release {

using model::action_kind;

namespace {
/// More cannot be compared at every release, which may be every unlock.
constexpr std::size_t most_kept = 64;
}  // namespace

bool kept_units::may_keep(const unit_state& s) const noexcept {
  const bool can = table_.shape.keeps && table_.shape.update != updates::never && !table_.shape.scans &&
                   table_.shape.migrates && !table_.shape.pages_out && table_.shape.twin_pages == 1 &&
                   table_.shape.nodes.exact();
  return can && !table_.open.keeps_none && !table_.checked && !table_.homes_stay && s.producing == 0 &&
         s.declared == 0 && s.mapped() == access::write && table_.open.kept.size() < most_kept;
}

/// The twin is as the content was just now.
void kept_units::keep(std::uint64_t unit, unit_state& s) {
  if (s.kept != 0) return;
  s.kept = 1;
  ++table_.count.kept;
  const written_unit self{table_.shape.region, unit};
  const auto known = std::ranges::find(table_.open.kept, self, &kept_unit::what);
  if (known == table_.open.kept.end()) table_.open.kept.push_back({self});
}

/// At the home, when `interval` is about to be told. At no other time: of a copy from before, which has an interval of
/// this home, it would not be known whether it has what the twin has.
void kept_units::keep_home(std::uint64_t unit, unit_state& s, std::uint32_t interval, actions& out) {
  if (may_keep(s) && (s.steady != 0 || table_.shape.update == updates::always)) {
    s.twin = s.shared = 1;  // from now on all that is written is told, and in the twin then
    table_.open.twins += table_.shape.twin_pages;
    s.version = interval;
    keep(unit, s);
    out.add(action_kind::make_twin, unit);
  }
  s.steady = 1;
}

void kept_units::on_keep_ends(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  CHECK(s.kept != 0);
  table_.protect(unit, s, access::read, out);
}

void kept_units::on_keep_over(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  CHECK(s.kept != 0 && s.mapped() != access::write);
  s.kept = s.steady = 0;
  const bool as_others = s.is_home == 0 && s.listed != 0;
  if (!as_others) rights_.drop_twin(unit, s, out);
}

}  // namespace quire::release
