// SPDX-License-Identifier: BSD-3-Clause
// Where libc is found before libquire (a program that names libc first, or that loads libquire with dlopen(3), as
// Python does), the tables of addresses through which the program and its libraries call libc are changed: as if
// libquire had been there first.
#pragma once

namespace quire::api::calls {

/// At the start of a job. Does nothing where the dynamic linker has found libquire first. Application thread.
void redirect_others() noexcept;
/// The same of libraries that have been loaded since.
void redirect_new() noexcept;

}  // namespace quire::api::calls
