// SPDX-License-Identifier: BSD-3-Clause
// A job whose launcher speaks PMIx: Open MPI's mpirun, PRRTE, Slurm's srun --mpi=pmix.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "bootstrap/bootstrap.hpp"

namespace quire::bootstrap::pmix {

/// The job that the environment (PMIX_*) tells of. NOT_FOUND without it; UNSUPPORTED without PMIx on this machine or in
/// this build; SYSTEM if its server does not answer. What went wrong is logged. In the application's thread, once.
[[nodiscard]] base::result<std::unique_ptr<bootstrap>> join_launched();

}  // namespace quire::bootstrap::pmix
