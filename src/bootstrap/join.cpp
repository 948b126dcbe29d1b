// SPDX-License-Identifier: BSD-3-Clause
// Which bootstrap this process gets. Called once, by quire_start().
#include <cstdlib>

#include "base/log.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/local/member.hpp"
#include "bootstrap/pmi1/member.hpp"
#include "bootstrap/pmix/join.hpp"
#include "bootstrap/rendezvous/member.hpp"

namespace quire::bootstrap {
namespace {

using joined = base::result<std::unique_ptr<bootstrap>>;

/// Started as one of many by a launcher that does not tell its processes of each other: each would be a job of its own,
/// and say nothing.
bool launched_without_words() {
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");  // set by srun, not in a batch script itself
  if (tasks == nullptr || std::atoi(tasks) <= 1) return false;
  base::log(base::log_level::error,
            "srun has started %s tasks, but does not tell them of each other; use srun --mpi=pmix or --mpi=pmi2 (for "
            "jobs of one node "
            "each: unset SLURM_STEP_NUM_TASKS)",
            tasks);
  return true;
}

}  // namespace

joined join() {
  // The innermost first: `quire run` may itself run under another launcher, and a rendezvous among its processes.
  for (const auto body :
       {&local::join_launched, &rendezvous::join_launched, &pmix::join_launched, &pmi1::join_launched}) {
    auto job = body();
    if (!job.ok() && job.why() == QUIRE_NOT_FOUND) continue;
    rendezvous::forget_launched();  // of what is around: it is not for programs that this one starts
    return job;
  }
  if (launched_without_words()) return QUIRE_UNSUPPORTED;
  return local::join_alone();
}

void leave_to_another() noexcept {
  local::forget_launched();
  pmi1::forget_launched();
  rendezvous::forget_launched();
}

}  // namespace quire::bootstrap
