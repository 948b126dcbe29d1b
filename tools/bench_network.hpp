// SPDX-License-Identifier: BSD-3-Clause
// `quire bench network`: what the network between two hosts costs, as a file for `quire predict --network`.
#pragma once

#include "commands.hpp"

namespace quire::tools {

void add_bench_network(CLI::App& bench, session& about);

}  // namespace quire::tools
