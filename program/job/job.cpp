// SPDX-License-Identifier: BSD-3-Clause
#include "program/job/job.hpp"

namespace quire::program {
namespace {
settings g_job;
}

settings& job() noexcept { return g_job; }

}  // namespace quire::program
