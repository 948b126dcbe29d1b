// SPDX-License-Identifier: BSD-3-Clause
// What the engine's process does when the application's has crashed (pool 'fork').
#pragma once

#include <string>

namespace quire::api {

/// Says that the application has ended, and writes the shared pages that this node holds to a core file in `directory`,
/// unless that is empty. Engine's process, any thread; the application is gone.
void tell_pages(const std::string& directory);

}  // namespace quire::api
