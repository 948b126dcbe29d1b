// SPDX-License-Identifier: BSD-3-Clause
// OMP_* of the environment.
#pragma once

#include "program/omp/team/team.hpp"

namespace quire::program {

/// What the environment says, into settings that have the defaults already. Says on standard error what is no value,
/// and is not looked at.
void read_environment(settings& job) noexcept;
/// kmp_set_defaults(): the same of a text NAME=VALUE|NAME=VALUE, for a task, while the program runs. Names that cannot
/// be set then are said.
void read_defaults(const char* text, variables& own) noexcept;
/// OMP_DISPLAY_ENV, and omp_display_env(): what holds, in the form of the standard. Writes to standard error.
void display_environment(bool more) noexcept;

}  // namespace quire::program
