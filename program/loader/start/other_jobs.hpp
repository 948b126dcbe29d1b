// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program {

/// Before the job starts, of a program without OpenMP: ends it if a library of it is one of another system of nodes
/// (MPI), or uses Quire itself.
void refuse_other_jobs() noexcept;

}  // namespace quire::program
