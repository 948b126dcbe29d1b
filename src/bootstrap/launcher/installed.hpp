// SPDX-License-Identifier: BSD-3-Clause
// Handing a job to a launcher that is installed: Open MPI's mpirun, Slurm's srun. Used by `quire run`, which becomes
// that program; the nodes then find each other by PMIx.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/launcher/launcher.hpp"

namespace quire::bootstrap::launcher {

/// Path of a program in PATH; empty if there is none.
[[nodiscard]] std::string find_program(std::string_view name);
/// Path of Open MPI's mpirun (another MPI's has other options, and no PMIx); empty if it is not installed.
[[nodiscard]] std::string find_mpirun();
/// Whether this build can join jobs of such launchers.
[[nodiscard]] bool speaks_pmix() noexcept;

/// The command lines. Settings in plan.environment are expected in the environment. `agent`: stands in for ssh if it is
/// not empty.
[[nodiscard]] std::vector<std::string> mpirun_words(const job_plan& plan, const std::string& mpirun,
                                                    const std::string& agent);
[[nodiscard]] std::vector<std::string> srun_words(const job_plan& plan, const std::string& srun);

}  // namespace quire::bootstrap::launcher
