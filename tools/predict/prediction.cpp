// SPDX-License-Identifier: BSD-3-Clause
#include "predict/prediction.hpp"

#include <algorithm>

namespace quire::tools::predict {

void widen(prediction& p) {
  const double all_work_ns = p.likely.work_ns / static_cast<double>(std::max<std::uint64_t>(1, p.likely.threads));
  const double sooner_ns = std::max(p.likely.ns - p.likely.turned_ns, std::min(all_work_ns, p.likely.ns));
  p.least.ns = std::min(p.least.ns, sooner_ns);
  p.most.ns = std::max(p.most.ns, p.likely.ns + p.likely.turned_ns);
}

double gain_of(const prediction& first, double ns, const prediction& p) {
  if (ns <= 0 || first.likely.ns <= 0) return 0;
  if (!first.was_cut && !p.was_cut) return first.likely.ns / ns;
  return p.likely.work_ns / ns / (first.likely.work_ns / first.likely.ns);
}

shares shares_of(const outcome& o) {
  const double all = o.ns * static_cast<double>(std::max<std::uint64_t>(1, o.threads));
  const auto part = [&](double ns) { return all > 0 ? std::clamp(100 * ns / all, 0.0, 100.0) : 0; };
  const auto waited = [&](record::asked what) { return part(o.waits_ns[static_cast<std::size_t>(what)]); };
  shares s;
  s.work = part(o.work_ns);
  s.faults = waited(record::asked::fault);
  s.barriers = waited(record::asked::barrier);
  s.locks = waited(record::asked::lock) + waited(record::asked::unlock);
  // Threads that only work, and ask for nothing, are not among those that are counted.
  if (const double told = s.work + s.faults + s.barriers + s.locks; told > 100)
    for (double* const one : {&s.work, &s.faults, &s.barriers, &s.locks}) *one *= 100 / told;
  s.other = std::max(0.0, 100 - s.work - s.faults - s.barriers - s.locks);
  return s;
}

}  // namespace quire::tools::predict
