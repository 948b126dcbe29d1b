// SPDX-License-Identifier: BSD-3-Clause
// What options say of a node of a job: settings.cpp. While the job starts.
#pragma once

#include <quire/quire.h>

#include <string>

#include "runtime/runtime.hpp"
#include "base/options.hpp"
#include "base/status.hpp"
#include "region/registry.hpp"

namespace quire::core {
struct configuration;
}

namespace quire::api {

/// That this process may run on.
[[nodiscard]] int cores() noexcept;
/// A thread that waits polls for about as long as a phase of an ordinary program takes, giving way to whoever else
/// wants the core: to sleep and be woken costs more, and may bring it to the core of the other node that computes. That
/// helps up to two nodes a core.
[[nodiscard]] drive::pace pace_of(const base::option_values& options, int local_nodes);
/// What the environment says, the program where the user says nothing, or what stands in the table.
[[nodiscard]] base::status read_settings(runtime& r, const quire_options& given);
/// What the settings say of this node.
void configure(runtime& r, core::configuration& c);
[[nodiscard]] region::heap_settings heap_of(const base::option_values& options);

/// What cannot outlast a death is refused now, not then.
[[nodiscard]] base::status check_survival(const runtime& r, const core::configuration& c);
[[nodiscard]] base::status refuse_survival(const char* what);

}  // namespace quire::api
